import { type RawBuilder, sql } from 'kysely';

/**
 * The tables that an Organization moves with, in the order in which they can be inserted. Removal deletes in the opposite
 * order, so a table follows those by which its rows are found. `tables-store.test.ts` compares both lists with the schema, so
 * that a new table is in one of them.
 */
export type TransferredTable = {
  name: string;
  /** The rows of an Organization; `t` is the table. */
  rows: (organization: RawBuilder<string>) => RawBuilder<boolean>;
  /** Of tables whose rows refer to others of the same table; deleted in the opposite order. */
  order?: readonly RawBuilder<unknown>[];
  /** Rows with large values. */
  batchRows?: number;
  /** Rows are not deleted when the Organization is removed. */
  isKept?: true;
};

const own = (organization: RawBuilder<string>) => sql<boolean>`t.organization_guid = ${organization}`;
const bySubscription = (organization: RawBuilder<string>) => sql<boolean>`t.subscription_guid in (
  select guid from subscriptions where organization_guid = ${organization})`;
const byMember = (organization: RawBuilder<string>) => sql<boolean>`t.member_guid in (
  select member_guid from memberships where organization_guid = ${organization})`;

export const TRANSFERRED: readonly TransferredTable[] = [
  { name: 'organizations', rows: (organization) => sql`t.guid = ${organization}` },
  { name: 'banks', rows: own },
  // A key pair is created later than the one that it replaces.
  { name: 'applications', rows: own, order: [sql`t.created_at`, sql`t.client_id`] },
  {
    name: 'members',
    rows: (organization) => sql`t.guid in (
      select member_guid from memberships where organization_guid = ${organization})`,
  },
  { name: 'logins', rows: byMember },
  { name: 'passkeys', rows: byMember },
  { name: 'login_networks', rows: byMember },
  { name: 'memberships', rows: own },
  { name: 'saved_filters', rows: own },
  { name: 'login_links', rows: own },
  // Other objects refer to customers.
  { name: 'objects', rows: own, order: [sql`t.type <> 'customer'`, sql`t.guid`] },
  { name: 'quote_uses', rows: own },
  { name: 'files', rows: own },
  { name: 'inboxes', rows: own },
  {
    name: 'inbox_requests',
    rows: (organization) => sql`t.inbox_guid in (
      select guid from inboxes where organization_guid = ${organization})`,
    batchRows: 20,
  },
  { name: 'subscriptions', rows: own },
  { name: 'delivery_queue', rows: bySubscription },
  { name: 'deliveries', rows: bySubscription },
  {
    name: 'delivery_attempts',
    rows: (organization) => sql`t.delivery_guid in (
      select d.guid from deliveries as d join subscriptions as s on s.guid = d.subscription_guid
      where s.organization_guid = ${organization})`,
  },
  { name: 'delivery_counters', rows: bySubscription },
  { name: 'endpoint_errors', rows: bySubscription },
  { name: 'subscription_recoveries', rows: own },
  { name: 'events', rows: own },
  { name: 'event_resends', rows: own },
  { name: 'event_counters', rows: own },
  { name: 'alerts', rows: own },
  { name: 'alert_notices', rows: own },
  { name: 'alert_members', rows: own },
  { name: 'alert_settings', rows: own },
  { name: 'alert_endpoints', rows: own },
  { name: 'request_log', rows: own },
  // The database refuses to delete audit records; retention drops them.
  { name: 'audit_records', rows: own, isKept: true },
  // So that a request that is repeated after the move is not done twice.
  {
    name: 'idempotency_keys',
    rows: (organization) => sql`starts_with(t.owner, replace(${organization}::text, '-', '') || ' ')`,
    batchRows: 50,
  },
];

/** Tables that stay, and why. */
export const NOT_TRANSFERRED: Readonly<Record<string, string>> = {
  customers: 'a trigger writes them with the objects',
  object_filter_values: 'triggers write them with the objects',
  delivery_batches: 'a freeze waits until the Organization has none',
  sessions: 'people log in again',
  passkey_challenges: 'valid for minutes',
  signing_keys: 'of the installation: tokens of the old cell are refused by the new one',
  revocations: 'of tokens, which do not move',
  verifying_nodes: 'nodes of the installation',
  dispatchers: 'nodes of the installation',
  endpoint_notices: 'for the dispatchers of the installation',
  event_count_writers: 'nodes of the installation',
  rate_limits: 'windows of minutes',
  prices: 'of the platform, the same for all Organizations',
  file_deletions: 'content that no file has any more',
  content_sweeps: 'of the storage of the installation',
  schema_migrations: 'compared before an import',
};

/** Deleted with the Organization; an import writes them by triggers. */
export const DERIVED: readonly TransferredTable[] = [
  { name: 'object_filter_values', rows: own },
  { name: 'customers', rows: own },
];
