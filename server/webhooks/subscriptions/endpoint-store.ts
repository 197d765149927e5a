import { type Selectable, sql } from 'kysely';
import { textArray, uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { EnvironmentName, Tables } from '../../infrastructure/database/tables.ts';
import { COLUMNS, type SubscriptionRow, stateAt } from './store.ts';

/** What the dispatcher, the sweeper and the rotation of the master key read and write, for many tenants at once. */
export type EndpointRow = Selectable<Tables['subscriptions']>;
export type Outcome = {
  guid: string;
  succeeded: boolean;
  failingSince: Date | undefined;
  at: Date;
  /** The URL that answered 2xx while it still had to: it activates the subscription unless it has another by now. */
  provenUrl?: string | undefined;
};

/** Not failed and not gone. */
export async function selectEndpointsOf(
  transaction: Transaction,
  organizationGuids: readonly string[],
  now: Date,
): Promise<EndpointRow[]> {
  const { rows } = await sql<EndpointRow>`
    /* prepared: endpoints_of */
    select * from subscriptions
    where organization_guid = any(${uuidArray(organizationGuids)})
      and failed_at is null and ${stateAt(now)} <> 'deleted'
    order by guid`.execute(transaction);
  return rows;
}

export async function selectEndpoints(queries: Queries, guids: readonly string[]): Promise<EndpointRow[]> {
  const { rows } = await sql<EndpointRow>`
    /* prepared: endpoints */
    select * from subscriptions where guid = any(${uuidArray(guids)}) order by guid`.execute(queries);
  return rows;
}

export type Owned = {
  organizationGuid: string;
  environments: readonly EnvironmentName[];
  goneAfter: Date;
};

export async function selectGuids(
  queries: Queries,
  { organizationGuid, environments, goneAfter }: Owned,
): Promise<string[]> {
  const rows = await queries
    .selectFrom('subscriptions')
    .select('guid')
    .where('organization_guid', '=', organizationGuid)
    .where('environment', '=', sql<EnvironmentName>`any(${textArray(environments)})`)
    .where(({ or, eb }) => or([eb('deleted_at', 'is', null), eb('deleted_at', '>=', goneAfter)]))
    .orderBy('guid')
    .execute();
  return rows.map(({ guid }) => guid);
}

/**
 * Locks in one order, and only what there is something to write about: while an endpoint simply answers, or simply
 * fails, its row is read and left alone, however many deliveries it gets. Returns the subscriptions that it activates.
 */
export async function updateOutcomes(
  transaction: Transaction,
  outcomes: readonly Outcome[],
): Promise<string[]> {
  const { rows } = await sql<{ guid: string; activates: boolean }>`
    /* prepared: note_outcomes */
    with outcomes as (
      select * from unnest(
        ${outcomes.map(({ guid }) => guid)}::uuid[],
        ${outcomes.map(({ succeeded }) => succeeded)}::boolean[],
        ${outcomes.map(({ failingSince }) => failingSince ?? null)}::timestamptz[],
        ${outcomes.map(({ at }) => at)}::timestamptz[],
        ${textArray(outcomes.map(({ provenUrl }) => provenUrl ?? null))})
      as outcomes (guid, succeeded, failing_since, at, proven_url)
    ), changing as (
      select subscriptions.guid, activated_at is null and url = proven_url as activates
      from subscriptions join outcomes using (guid)
      where failed_at is null and deleted_at is null
        and (scheduled_deletion_at is null or scheduled_deletion_at > outcomes.at)
        and case when succeeded
          then (activated_at is null and url = proven_url) or deliveries_failing_since is distinct from failing_since
          else deliveries_failing_since is null and failing_since is not null
        end
      order by subscriptions.guid
      for no key update of subscriptions
    )
    update subscriptions
    set
      activated_at = case when changing.activates then outcomes.at else activated_at end,
      recovered_at = case when succeeded and deliveries_failing_since is not null
        then outcomes.at else recovered_at end,
      deliveries_failing_since = case when succeeded
        then failing_since else coalesce(deliveries_failing_since, failing_since) end,
      updated_at = greatest(updated_at, outcomes.at)
    from outcomes join changing using (guid)
    where subscriptions.guid = outcomes.guid
    returning subscriptions.guid, coalesce(changing.activates, false) as activates`.execute(transaction);
  return rows.filter(({ activates }) => activates).map(({ guid }) => guid);
}

/** A delivery to send first, and the one that was chosen before it, which has ended. */
export type FirstChoice = { guid: string; before: string | undefined; first: string };

/** Returns the subscriptions whose choice is written. A row that is locked is left for the next round. */
export async function updateFirstDeliveries(
  queries: Queries,
  choices: readonly FirstChoice[],
): Promise<string[]> {
  const { rows } = await sql<{ guid: string }>`
    with choices as (
      select * from unnest(
        ${uuidArray(choices.map(({ guid }) => guid))},
        ${uuidArray(choices.map(({ before }) => before ?? null))},
        ${uuidArray(choices.map(({ first }) => first))}) as choices (guid, before, first)
    ), free as (
      select subscriptions.guid from subscriptions join choices using (guid)
      where activated_at is null and first_delivery_guid is not distinct from before
      for no key update of subscriptions skip locked
    )
    update subscriptions set first_delivery_guid = choices.first
    from choices join free using (guid)
    where subscriptions.guid = choices.guid
    returning subscriptions.guid`.execute(queries);
  return rows.map(({ guid }) => guid);
}

/** Of those that are not active. */
export function selectFirstDeliveries(queries: Queries, guids: readonly string[]) {
  return queries
    .selectFrom('subscriptions')
    .select(['guid', 'first_delivery_guid'])
    .where('guid', '=', sql<string>`any(${uuidArray(guids)})`)
    .where('activated_at', 'is', null)
    .execute();
}

/** Those whose deletion has come. What another node is busy with is left to it. */
export function markDeleted(transaction: Transaction, now: Date, limit: number): Promise<SubscriptionRow[]> {
  const due = transaction
    .selectFrom('subscriptions')
    .select('guid')
    .where('deleted_at', 'is', null)
    .where('scheduled_deletion_at', '<=', now)
    .orderBy('scheduled_deletion_at')
    .limit(limit)
    .forUpdate()
    .skipLocked();
  return transaction
    .with('due', () => due)
    .updateTable('subscriptions')
    .from('due')
    .set({ deleted_at: now, updated_at: now })
    .whereRef('subscriptions.guid', '=', 'due.guid')
    .returning(qualified)
    .execute();
}

/** Those that have been failing since `failingBefore`, or longer, and that somebody could have received at. */
export function markFailed(
  transaction: Transaction,
  { failingBefore, now }: { failingBefore: Date; now: Date },
  limit: number,
): Promise<SubscriptionRow[]> {
  const due = transaction
    .selectFrom('subscriptions')
    .select('guid')
    .where('failed_at', 'is', null)
    .where('deleted_at', 'is', null)
    .where('deliveries_failing_since', '<=', failingBefore)
    .where('disabled_at', 'is', null)
    .where(stateAt(now), '!=', 'deleted')
    .orderBy('deliveries_failing_since')
    .limit(limit)
    .forUpdate()
    .skipLocked();
  return transaction
    .with('due', () => due)
    .updateTable('subscriptions')
    .from('due')
    .set({ failed_at: now, updated_at: now })
    .whereRef('subscriptions.guid', '=', 'due.guid')
    .returning(qualified)
    .execute();
}

const qualified = COLUMNS.map((column) => `subscriptions.${column}` as const);

export type EncryptedKey = { guid: string; signing_key_encrypted: Buffer };

/** The next keys after a guid. They never change but by rotation, so they need no lock to be read. */
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
