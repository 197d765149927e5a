import type { Generated, JSONColumnType, Selectable, Updateable } from 'kysely';
import type { AlertTables } from './alert-tables.ts';
import type { PeopleTables } from './people-tables.ts';

/** The columns as Kysely sees them; `migrations/` defines them. */
export type Tables = AlertTables &
  PeopleTables & {
    organizations: OrganizationsTable;
    banks: BanksTable;
    audit_records: AuditRecordsTable;
    events: EventsTable;
    event_resends: EventResendsTable;
    event_counters: EventCountersTable;
    event_count_writers: EventCountWritersTable;
    request_log: RequestLogTable;
    rate_limits: RateLimitsTable;
    idempotency_keys: IdempotencyKeysTable;
    applications: ApplicationsTable;
    signing_keys: SigningKeysTable;
    revocations: RevocationsTable;
    verifying_nodes: VerifyingNodesTable;
    objects: ObjectsTable;
    prices: PricesTable;
    quote_uses: QuoteUsesTable;
    subscriptions: SubscriptionsTable;
    deliveries: DeliveriesTable;
    delivery_queue: DeliveryQueueTable;
    delivery_batches: DeliveryBatchesTable;
    delivery_attempts: DeliveryAttemptsTable;
    delivery_counters: DeliveryCountersTable;
    endpoint_errors: EndpointErrorsTable;
    dispatchers: DispatchersTable;
    endpoint_notices: EndpointNoticesTable;
    subscription_recoveries: SubscriptionRecoveriesTable;
    files: FilesTable;
    file_deletions: FileDeletionsTable;
    content_sweeps: ContentSweepsTable;
  };

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
export type RowChanges<Name extends keyof Tables> = Updateable<Tables[Name]>;

export type EnvironmentName = 'production' | 'sandbox';

type OrganizationsTable = {
  guid: string;
  name: string;
  live: boolean;
  features: string[];
  second_factor_roles: Generated<string[]>;
  second_factor_in_production: boolean | null;
  created_at: Date;
  updated_at: Date;
};

type BanksTable = {
  guid: string;
  organization_guid: string;
  name: string;
  environment: EnvironmentName;
  features: Generated<string[]>;
  supported_fiat_account_assets: string[] | null;
  supported_trading_symbols: string[] | null;
  created_at: Date;
  updated_at: Date;
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

type EventsTable = {
  guid: string;
  organization_guid: string;
  bank_guid: string | null;
  event_type: string;
  object_guid: string;
  environment: EnvironmentName;
  created_at: Date;
};

type EventResendsTable = {
  guid: string;
  organization_guid: string;
  environment: EnvironmentName;
  event_guid: string;
  subscription_guid: string;
  created_at: Date;
};

type EventCountersTable = {
  organization_guid: string;
  environment: EnvironmentName;
  minute: Date;
  events: number;
};

type EventCountWritersTable = {
  guid: string;
  sequence: number;
  written_at: Date;
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
  replaces_client_id: string | null;
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

type ObjectsTable = {
  guid: string;
  organization_guid: string;
  environment: EnvironmentName;
  bank_guid: string;
  customer_guid: string | null;
  type: string;
  state: string | null;
  details: JSONColumnType<Record<string, unknown>>;
  labels: string[];
  created_at: Date;
  updated_at: Date;
  ending: string | null;
  next_move_at: Date | null;
  guid_time_differs: Generated<boolean>;
};

type PricesTable = {
  symbol: string;
  buy_price: string;
  sell_price: string;
  reported_at: Date;
};

type QuoteUsesTable = {
  organization_guid: string;
  quote_guid: string;
  object_guid: string;
  used_at: Date;
};

type SubscriptionsTable = {
  guid: string;
  organization_guid: string;
  environment: EnvironmentName;
  name: string;
  url: string;
  signing_key_encrypted: Buffer;
  protection_enabled: boolean;
  created_at: Date;
  updated_at: Date;
  activated_at: Date | null;
  first_delivery_guid: string | null;
  deliveries_failing_since: Date | null;
  recovered_at: Date | null;
  failed_at: Date | null;
  disabled_at: Date | null;
  paused_at: Date | null;
  endpoint_version: Generated<number>;
  replaces_guid: string | null;
  scheduled_deletion_at: Date | null;
  deleted_at: Date | null;
  /** Set by a trigger. */
  url_changed_at: Generated<Date | null>;
};

export type FailureKind = 'timeout' | 'unreachable' | 'rejected';

type DeliveriesTable = {
  guid: string;
  organization_guid: string;
  environment: EnvironmentName;
  subscription_guid: string;
  event_guid: string;
  bank_guid: string | null;
  event_type: string;
  object_guid: string;
  attempt_count: number;
  failing_since: Date | null;
  failure_kind: FailureKind | null;
  response_status: number | null;
  response_time_ms: number | null;
  response_excerpt: string | null;
  created_at: Date;
  updated_at: Date;
  completed_at: Date | null;
  /** `completed_at` if it is more than five minutes after `created_at`. */
  late_completed_at: Date | null;
  failed_at: Date | null;
  /** Null if an event created the delivery. */
  requested_as: Generated<'redelivery' | 'test_event' | 'recovery' | null>;
  requested_by_type: Generated<'user' | 'application' | 'recovery' | null>;
  requested_by: Generated<string | null>;
};

type DeliveryQueueTable = {
  subscription_guid: string;
  delivery_guid: string;
  due_at: Date;
  scheduled_at: Date;
  leased_by: string | null;
};

type DeliveryBatchesTable = {
  guid: string;
  subscription_guid: string;
  leased_by: string;
  delivery_guids: string[];
  created_at: Date;
};

type DeliveryAttemptsTable = {
  delivery_guid: string;
  number: number;
  attempted_at: Date;
  duration_ms: number;
  outcome: 'completed' | FailureKind;
  response_status: number | null;
  response_excerpt: string | null;
  reason: string | null;
  url: Generated<string | null>;
  address: Generated<string | null>;
  user_agent: Generated<string | null>;
  response_headers: Generated<Record<string, string> | null>;
};

type DeliveryCountersTable = {
  subscription_guid: string;
  minute: Date;
  completed: number;
  failed_attempts: number;
  response_times: number[];
  failed: Generated<number>;
  completed_by_retry: Generated<number>;
  timeouts: Generated<number>;
};

type EndpointErrorsTable = {
  subscription_guid: string;
  kind: FailureKind;
  status: number;
  failing_since: Date;
  count: number;
  last_at: Date;
  delivery_guid: string;
  attempt_number: number;
};

type DispatchersTable = {
  guid: string;
  lease_until: Date;
};

type EndpointNoticesTable = {
  guid: string;
  dispatcher_guid: string;
  subscription_guid: string;
};
/** What a redelivery job sends: failed deliveries again, waiting ones now, or all events again. */
export type RedeliveryKind = 'failed' | 'waiting' | 'all';

type SubscriptionRecoveriesTable = {
  guid: string;
  organization_guid: string;
  environment: EnvironmentName;
  subscription_guid: string;
  kind: Generated<RedeliveryKind>;
  since: Date;
  until: Date;
  total: number;
  done: number;
  /** Null for jobs of earlier versions. */
  redelivered: number | null;
  reached: string | null;
  /** Null for jobs of earlier versions. */
  actor_type: AuditRecordsTable['actor_type'] | null;
  actor: string | null;
  created_at: Date;
  updated_at: Date;
  completed_at: Date | null;
  /** Also set when the job is cancelled. */
  failed_at: Date | null;
  cancelled_at: Date | null;
};

export type FileFailureCode = 'upload_expired' | 'content_type_mismatch' | 'infected' | 'empty' | 'too_large';

type FilesTable = {
  guid: string;
  organization_guid: string;
  bank_guid: string;
  customer_guid: string;
  environment: EnvironmentName;
  type: string;
  filename: string;
  content_type: string;
  max_bytes: number;
  size: number | null;
  sha256: string | null;
  failure_code: FileFailureCode | null;
  upload_expires_at: Date | null;
  uploaded_at: Date | null;
  next_look_at: Date | null;
  leased_by: string | null;
  upload_leased_by: string | null;
  upload_leased_until: Date | null;
  pending_bytes: number | null;
  created_at: Date;
  updated_at: Date;
  completed_at: Date | null;
  failed_at: Date | null;
};

type ContentSweepsTable = {
  storage: string;
  position: string | null;
  pass_started_at: Date;
};

type FileDeletionsTable = {
  guid: string;
  due_at: Date;
};
