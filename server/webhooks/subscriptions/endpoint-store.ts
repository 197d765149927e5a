import { sql } from 'kysely';
import { preparedUuids, textArray, uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { EnvironmentName, Row } from '../../infrastructure/database/tables.ts';
import type { SubscriptionRow } from './state.ts';
import { COLUMNS, stateAt } from './store.ts';

/** Queries of the dispatcher, alerts and the key rotation, for many tenants at once. */
const SENDING_COLUMNS = [
  'signing_key_encrypted',
  'first_delivery_guid',
  'retries_early_before',
  'endpoint_version',
  'url_changed_at',
  'frozen',
] as const;
const NAMES = [...COLUMNS, ...SENDING_COLUMNS];
const ENDPOINT_COLUMNS = sql.join(NAMES.map((name) => sql.ref(name)));
export type EndpointRow = Pick<Row<'subscriptions'>, (typeof NAMES)[number]>;

/** The results of a batch of outcomes for one endpoint. */
export type EndpointEffect = {
  guid: string;
  /** Without effect after a change of the URL. */
  url: string;
  /** The last success. */
  succeededAt: Date | undefined;
  /** The first failure after the last success, or the first failure. */
  failingSince: Date | undefined;
  at: Date;
};

/** Endpoints of subscriptions that are neither failed nor deleted. */
export async function selectEndpointsOf(
  transaction: Transaction,
  organizationGuids: readonly string[],
  now: Date,
): Promise<EndpointRow[]> {
  const { rows } = await sql<EndpointRow>`
    /* prepared: endpoints_of */
    select ${ENDPOINT_COLUMNS} from subscriptions
    where organization_guid = any(${preparedUuids(organizationGuids)})
      and failed_at is null and ${stateAt(now)} <> 'deleted'
    order by guid`.execute(transaction);
  return rows;
}

/** A subscription that may receive new events, with a number that changes with the content of its row. */
export type ReceiverRow = EndpointRow & { version: string };

/** Not `xmin`: after a failover to a server that has lost transactions, another one may have the same number. */
const ROW_VERSION = sql`hash_record_extended(s, 0)::text`;
/**
 * Without a condition on the time, which passes without a change of the row. One expression, because the conditions of the
 * index of failing subscriptions would let the planner read all of it.
 */
const mayReceive = (organizationGuids: readonly string[]) => sql`
  s.organization_guid = any(${preparedUuids(organizationGuids)}) and coalesce(s.failed_at, s.deleted_at) is null`;

export async function selectReceivers(
  transaction: Transaction,
  organizationGuids: readonly string[],
): Promise<ReceiverRow[]> {
  const { rows } = await sql<ReceiverRow>`
    /* prepared: receivers */
    select ${ENDPOINT_COLUMNS}, ${ROW_VERSION} as version from subscriptions as s
    where ${mayReceive(organizationGuids)} order by guid`.execute(transaction);
  return rows;
}

/** Fails the transaction unless these are still the receivers of the Organizations. */
export async function requireReceivers(
  transaction: Transaction,
  organizationGuids: readonly string[],
  receivers: readonly ReceiverRow[],
): Promise<void> {
  const versions = receivers.toSorted(byGuid).map(({ version }) => version);
  await sql`
    /* prepared: require_receivers, pipelined */
    select require_unchanged(
      coalesce(array_agg(${ROW_VERSION} order by s.guid), '{}') = ${textArray(versions)})
    from subscriptions as s where ${mayReceive(organizationGuids)}`.execute(transaction);
}

function byGuid({ guid: one }: ReceiverRow, { guid: other }: ReceiverRow): number {
  return one < other ? -1 : 1;
}

export async function selectEndpoints(queries: Queries, guids: readonly string[]): Promise<EndpointRow[]> {
  const { rows } = await sql<EndpointRow>`
    /* prepared: endpoints */
    select ${ENDPOINT_COLUMNS} from subscriptions where guid = any(${preparedUuids(guids)}) order by guid`.execute(
    queries,
  );
  return rows;
}

/** Whether a subscription is failed, disabled or deleted, as part of a statement: in the snapshot of its other rows. */
export const hasEnded = (guid: string, now: Date) => sql<boolean>`not exists (
  select 1 from subscriptions
  where guid = ${guid} and failed_at is null and disabled_at is null and ${stateAt(now)} <> 'deleted')`;

export type Owned = {
  organizationGuid: string;
  environments: readonly EnvironmentName[];
  deletedAfter: Date;
};

export async function selectGuids(
  queries: Queries,
  { organizationGuid, environments, deletedAfter }: Owned,
): Promise<string[]> {
  const rows = await queries
    .selectFrom('subscriptions')
    .select('guid')
    .where('organization_guid', '=', organizationGuid)
    .where('environment', '=', sql<EnvironmentName>`any(${textArray(environments)})`)
    .where(({ or, eb }) => or([eb('deleted_at', 'is', null), eb('deleted_at', '>=', deletedAfter)]))
    .orderBy('guid')
    .execute();
  return rows.map(({ guid }) => guid);
}

/**
 * Locks rows in guid order, and only rows that change: while an endpoint keeps answering or keeps failing, its row is
 * only read. Returns the activated subscriptions.
 */
export async function updateOutcomes(
  transaction: Transaction,
  outcomes: readonly EndpointEffect[],
): Promise<string[]> {
  const { rows } = await sql<{ guid: string; activates: boolean }>`
    /* prepared: apply_outcomes */
    with outcomes as materialized (
      select * from unnest(
        ${outcomes.map(({ guid }) => guid)}::uuid[],
        ${outcomes.map(({ succeededAt }) => succeededAt ?? null)}::timestamptz[],
        ${outcomes.map(({ failingSince }) => failingSince ?? null)}::timestamptz[],
        ${outcomes.map(({ at }) => at)}::timestamptz[],
        ${textArray(outcomes.map(({ url }) => url))})
      as outcomes (guid, succeeded_at, failing_since, at, url)
      order by guid
    ), changing as materialized (
      -- One lookup for each outcome: to join in the order of guids the planner would read all subscriptions. Without
      -- statistics it would also read all of the index of failing ones, if the conditions were those of the index.
      select outcomes.guid, succeeded_at, at, url, activates, recovers, since
      from outcomes cross join lateral (
        select counted.*
        from subscriptions cross join lateral (
          -- An outcome may be recorded long after its request. A success does not end later failures; failures before
          -- the last recovery, change of the URL or end of a stop do not count.
          select activated_at is null and succeeded_at is not null as activates,
            coalesce(succeeded_at >= deliveries_failing_since, false) as recovers,
            case when failing_since is not null and coalesce(at > greatest(recovered_at, retries_early_before), true)
              then greatest(failing_since, recovered_at, retries_early_before) end as since
        ) as counted
        where subscriptions.guid = outcomes.guid and subscriptions.url = outcomes.url
          and coalesce(failed_at, deleted_at) is null
          and (scheduled_deletion_at is null or scheduled_deletion_at > outcomes.at)
          and (activates or recovers or deliveries_failing_since is null and since is not null)
        for no key update of subscriptions
      ) as locked
    )
    update subscriptions
    set
      activated_at = case when activates then succeeded_at else activated_at end,
      recovered_at = case when recovers then succeeded_at else recovered_at end,
      deliveries_failing_since = case when recovers
        then since else coalesce(deliveries_failing_since, since) end,
      updated_at = greatest(updated_at, changing.at)
    from changing
    -- The array limits the rows, whichever side the planner reads first.
    where subscriptions.guid = any(array(select guid from changing))
      and subscriptions.guid = changing.guid and subscriptions.url = changing.url
    returning subscriptions.guid, activates`.execute(transaction);
  return rows.filter(({ activates }) => activates).map(({ guid }) => guid);
}

/** Locks those that deliver and have not answered yet. Rows that are locked already are left for the next poll. */
export async function lockInactive(
  transaction: Transaction,
  guids: readonly string[],
  now: Date,
): Promise<SubscriptionRow[]> {
  return transaction
    .selectFrom('subscriptions')
    .select(COLUMNS)
    .where('guid', '=', sql<string>`any(${uuidArray(guids)})`)
    .where('activated_at', 'is', null)
    .where('failed_at', 'is', null)
    .where('disabled_at', 'is', null)
    .where('paused_at', 'is', null)
    .where('frozen', '=', false)
    .where(stateAt(now), '!=', 'deleted')
    .orderBy('guid')
    .forNoKeyUpdate()
    .skipLocked()
    .execute();
}

/** Of locked rows: the first deliveries by subscription. */
export async function updateFirstDeliveries(
  transaction: Transaction,
  firsts: ReadonlyMap<string, string>,
): Promise<void> {
  await sql`
    update subscriptions set first_delivery_guid = firsts.first
    from unnest(${uuidArray([...firsts.keys()])}, ${uuidArray([...firsts.values()])}) as firsts (guid, first)
    where subscriptions.guid = firsts.guid`.execute(transaction);
}

/** Failing since before `moment`, in the order of their guids; neither failed, disabled, paused nor deleted. */
export function selectFailingSince(
  queries: Queries,
  { moment, after, now, limit }: { moment: Date; after: string; now: Date; limit: number },
): Promise<SubscriptionRow[]> {
  return queries
    .selectFrom('subscriptions')
    .select(COLUMNS)
    .where('deliveries_failing_since', '<=', moment)
    .where('failed_at', 'is', null)
    .where('disabled_at', 'is', null)
    .where('paused_at', 'is', null)
    .where('deleted_at', 'is', null)
    .where(stateAt(now), '!=', 'deleted')
    .where('guid', '>', after)
    .orderBy('guid')
    .limit(limit)
    .execute();
}

export type EncryptedKey = { guid: string; signing_key_encrypted: Buffer };

/** Without a lock: only the rotation changes keys. */
export function selectEncryptedKeys(
  transaction: Transaction,
  after: string | undefined,
  limit: number,
): Promise<EncryptedKey[]> {
  let query = transaction.selectFrom('subscriptions').select(['guid', 'signing_key_encrypted']);
  if (after !== undefined) query = query.where('guid', '>', after);
  return query.orderBy('guid').limit(limit).execute();
}

export async function updateEncryptedKeys(
  transaction: Transaction,
  keys: readonly EncryptedKey[],
): Promise<void> {
  const guids = keys.map(({ guid }) => guid);
  await sql`
    with keys as (
      select * from unnest(
        ${guids}::uuid[],
        ${keys.map((key) => key.signing_key_encrypted)}::bytea[]) as keys (guid, signing_key_encrypted)
    ), locked as (
      select guid from subscriptions where guid = any(${guids}::uuid[]) order by guid for no key update
    )
    update subscriptions set signing_key_encrypted = keys.signing_key_encrypted
    from keys join locked using (guid)
    where subscriptions.guid = keys.guid`.execute(transaction);
}
