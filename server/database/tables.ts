import type { Generated, JSONColumnType } from 'kysely';

/** The columns as Kysely sees them; the truth is in `migrations/`. */
export type Tables = {
  organizations: OrganizationsTable;
  banks: BanksTable;
  audit_records: AuditRecordsTable;
  events: EventsTable;
  rate_limits: RateLimitsTable;
  applications: ApplicationsTable;
  signing_keys: SigningKeysTable;
  revocations: RevocationsTable;
  verifying_nodes: VerifyingNodesTable;
  customers: CustomersTable;
};

export type EnvironmentName = 'production' | 'sandbox';

type OrganizationsTable = {
  guid: string;
  name: string;
  live: boolean;
  features: string[];
  created_at: Date;
  updated_at: Date;
};

type BanksTable = {
  guid: string;
  organization_guid: string;
  name: string;
  environment: EnvironmentName;
  created_at: Date;
  updated_at: Date;
};

type AuditRecordsTable = {
  guid: string;
  organization_guid: string | null;
  actor_type: 'operator' | 'application' | 'user' | 'system';
  actor: string;
  action: string;
  object_type: string;
  object_id: string;
  changes: JSONColumnType<Record<string, unknown>>;
  address: string | null;
  request_id: string | null;
  created_at: Date;
};

type EventsTable = {
  guid: string;
  organization_guid: string;
  bank_guid: string | null;
  event_type: string;
  object_guid: string;
  environment: EnvironmentName;
  created_at: Date;
};

type RateLimitsTable = {
  key: string;
  window_started_at: Date;
  used: number;
};

type ApplicationsTable = {
  client_id: string;
  organization_guid: string;
  bank_guid: string | null;
  name: string;
  scopes: string[];
  ip_allowlist: string[];
  secret_hash: Buffer;
  secret_key_id: string;
  created_at: Date;
  updated_at: Date;
  last_used_at: Date | null;
  last_used_ip: string | null;
};

type SigningKeysTable = {
  kid: string;
  public_jwk: JSONColumnType<object>;
  private_jwk_encrypted: Buffer;
  signs_from: Date;
  created_at: Date;
};

type RevocationsTable = {
  revision: Generated<number>;
  kind: 'application' | 'token' | 'edit';
  subject: string;
  expires_at: Date;
  created_at: Date;
};

type VerifyingNodesTable = {
  guid: string;
  revision: number;
  lease_until: Date;
};

type CustomersTable = {
  guid: string;
  organization_guid: string;
  bank_guid: string;
  environment: EnvironmentName;
  type: 'individual' | 'business';
  name: string | null;
  created_at: Date;
  updated_at: Date;
};
