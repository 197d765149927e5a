import type { JSONColumnType } from 'kysely';
import type { EnvironmentName } from './environment.ts';

export type RequestTables = {
  audit_records: AuditRecordsTable;
  request_log: RequestLogTable;
  rate_limits: RateLimitsTable;
  idempotency_keys: IdempotencyKeysTable;
};

type AuditRecordsTable = {
  guid: string;
  organization_guid: string | null;
  actor_type: 'operator' | 'application' | 'user' | 'system' | 'anonymous';
  actor: string;
  action: string;
  object_type: string;
  object_id: string;
  changes: JSONColumnType<Record<string, unknown>>;
  before: JSONColumnType<Record<string, unknown> | null, string | null | undefined>;
  address: string | null;
  request_id: string | null;
  created_at: Date;
};

type RequestLogTable = {
  /** The request id. */
  guid: string;
  organization_guid: string;
  environment: EnvironmentName | 'both';
  bank_guid: string | null;
  /** Null at /oauth, where the caller has no token yet. */
  token_type: 'organization' | 'bank' | 'customer' | 'user' | null;
  client_id: string | null;
  member_guid: string | null;
  method: string;
  path: string;
  object_guid: string | null;
  status: number;
  message_code: string | null;
  duration_ms: number;
  address: string | null;
  /** How many similar calls the row stands for; 1 unless calls were sampled. */
  sample_rate: number;
};

type RateLimitsTable = {
  key: string;
  window_started_at: Date;
  used: number;
};

type IdempotencyKeysTable = {
  owner: string;
  key: string;
  claim: string;
  fingerprint: Buffer;
  locked_until: Date;
  /** Null while the request is under way. */
  status: number | null;
  /** JSON; null when the answer showed a secret. */
  body_encrypted: Buffer | null;
  created_at: Date;
};
