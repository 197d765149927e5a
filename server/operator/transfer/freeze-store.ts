import { sql } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Row } from '../../infrastructure/database/tables.ts';

export type Organization = Row<'organizations'>;

/** Waits for changes of the Organization that hold its lock. */
export function lockOrganization(transaction: Transaction, guid: string): Promise<Organization | undefined> {
  return transaction
    .selectFrom('organizations')
    .selectAll()
    .where('guid', '=', guid)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export function updateOrganization(
  transaction: Transaction,
  guid: string,
  changes: Partial<Pick<Organization, 'frozen_at' | 'freezing_at' | 'removing_at'>>,
): Promise<Organization> {
  return transaction
    .updateTable('organizations')
    .set(changes)
    .where('guid', '=', guid)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Undefined if the Organization is not frozen. */
export function endFreezing(queries: Queries, guid: string): Promise<Organization | undefined> {
  return queries
    .updateTable('organizations')
    .set({ freezing_at: null })
    .where('guid', '=', guid)
    .where('frozen_at', 'is not', null)
    .returningAll()
    .executeTakeFirst();
}

/** Active Organizations whose freeze began before. */
export async function selectInterrupted(queries: Queries, before: Date): Promise<string[]> {
  const rows = await queries
    .selectFrom('organizations')
    .select('guid')
    .where('freezing_at', '<=', before)
    .where('frozen_at', 'is', null)
    .orderBy('guid')
    .execute();
  return rows.map(({ guid }) => guid);
}

/** Returns the changed subscriptions, whose endpoints every dispatcher has to read again. */
export async function updateSubscriptions(
  transaction: Transaction,
  organizationGuid: string,
  frozen: boolean,
): Promise<string[]> {
  const { rows } = await sql<{ guid: string }>`
    with locked as (
      select guid from subscriptions
      where organization_guid = ${organizationGuid} and frozen <> ${frozen}
      order by guid for no key update
    )
    update subscriptions set frozen = ${frozen}, endpoint_version = endpoint_version + 1
    from locked where subscriptions.guid = locked.guid
    returning subscriptions.guid`.execute(transaction);
  return rows.map(({ guid }) => guid);
}

/** Deliveries of the Organization that a dispatcher holds or sends. */
export async function hasDeliveriesInProgress(queries: Queries, organizationGuid: string): Promise<boolean> {
  const { rows } = await sql`
    select from subscriptions as s
    where s.organization_guid = ${organizationGuid} and (
      exists (select from delivery_batches as b where b.subscription_guid = s.guid)
      or exists (
        select from delivery_queue as q where q.subscription_guid = s.guid and q.leased_by is not null))
    limit 1`.execute(queries);
  return rows.length > 0;
}

export async function selectMembershipGrants(
  transaction: Transaction,
  organizationGuid: string,
): Promise<string[]> {
  const rows = await transaction
    .selectFrom('memberships')
    .select('grant_guid')
    .where('organization_guid', '=', organizationGuid)
    .execute();
  return rows.map(({ grant_guid }) => grant_guid);
}
