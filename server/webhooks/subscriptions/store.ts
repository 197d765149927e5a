import { type Insertable, sql, type UpdateObject } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import { type Page, type PageOf, selectPage } from '../../infrastructure/database/paging/paging.ts';
import type { EnvironmentName, Tables } from '../../infrastructure/database/tables.ts';
import type { Visible } from '../visible.ts';
import {
  COUNTED_STATES,
  FIRST_STATE,
  STATE_RULES,
  type SubscriptionRow,
  type SubscriptionState,
} from './state.ts';

/** Calls of the operator say `any tenant` explicitly, so that a forgotten tenant is a type error. */
export type TenantFilter = Visible | 'any tenant';

export type SubscriptionFilters = {
  guid?: readonly string[] | undefined;
  state?: readonly SubscriptionState[] | undefined;
  environment?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
  updatedAtGte?: Date | undefined;
  updatedAtLt?: Date | undefined;
};

export const COLUMNS = [
  'guid',
  'organization_guid',
  'environment',
  'name',
  'url',
  'protection_enabled',
  'created_at',
  'updated_at',
  'activated_at',
  'deliveries_failing_since',
  'recovered_at',
  'failed_at',
  'disabled_at',
  'paused_at',
  'replaces_guid',
  'scheduled_deletion_at',
  'deleted_at',
] as const satisfies (keyof SubscriptionRow)[];

export async function insertSubscription(
  transaction: Transaction,
  subscription: Insertable<Tables['subscriptions']>,
): Promise<void> {
  await transaction.insertInto('subscriptions').values(subscription).execute();
}

export function selectSubscription(
  queries: Queries,
  tenant: TenantFilter,
  guid: string,
  now: Date,
): Promise<SubscriptionRow | undefined> {
  return presentOf(queries, tenant, now).where('guid', '=', guid).executeTakeFirst();
}

export function selectSubscriptionForUpdate(
  transaction: Transaction,
  tenant: TenantFilter,
  guid: string,
  now: Date,
): Promise<SubscriptionRow | undefined> {
  return presentOf(transaction, tenant, now).where('guid', '=', guid).forNoKeyUpdate().executeTakeFirst();
}

export function selectSubscriptions(
  queries: Queries,
  tenant: Visible,
  page: Page,
  filters: SubscriptionFilters,
  now: Date,
): Promise<PageOf<SubscriptionRow>> {
  let query = presentOf(queries, tenant, now);
  if (filters.guid) query = query.where('guid', 'in', filters.guid);
  if (filters.state) query = query.where(stateAt(now), 'in', filters.state);
  if (filters.environment) query = query.where('environment', 'in', filters.environment as EnvironmentName[]);
  if (filters.createdAtGte) query = query.where('created_at', '>=', filters.createdAtGte);
  if (filters.createdAtLt) query = query.where('created_at', '<', filters.createdAtLt);
  if (filters.updatedAtGte) query = query.where('updated_at', '>=', filters.updatedAtGte);
  if (filters.updatedAtLt) query = query.where('updated_at', '<', filters.updatedAtLt);
  return selectPage(queries, query, page);
}

/** Deleted subscriptions too. */
export function selectNames(
  queries: Queries,
  organizationGuid: string,
  guids: readonly string[],
): Promise<Pick<SubscriptionRow, 'guid' | 'name'>[]> {
  return queries
    .selectFrom('subscriptions')
    .select(['guid', 'name'])
    .where('organization_guid', '=', organizationGuid)
    .where('guid', 'in', guids)
    .execute();
}

export async function countTowardsLimit(
  transaction: Transaction,
  organizationGuid: string,
  now: Date,
): Promise<number> {
  const { count } = await transaction
    .selectFrom('subscriptions')
    .select((expression) => expression.fn.countAll<number>().as('count'))
    .where('organization_guid', '=', organizationGuid)
    .where(stateAt(now), 'in', COUNTED_STATES)
    .executeTakeFirstOrThrow();
  return count;
}

export function updateSubscription(
  transaction: Transaction,
  guid: string,
  changes: UpdateObject<Tables, 'subscriptions'>,
): Promise<SubscriptionRow> {
  return transaction
    .updateTable('subscriptions')
    .set(changes)
    .where('guid', '=', guid)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

export const nextVersion = sql<number>`endpoint_version + 1`;

/** The subscription that replaces another one, unless it has failed or is deleting. */
export async function selectReplacement(
  queries: Queries,
  tenant: Visible,
  replacesGuid: string,
  now: Date,
): Promise<string | undefined> {
  const found = await presentOf(queries, tenant, now)
    .where('replaces_guid', '=', replacesGuid)
    .where(stateAt(now), 'in', COUNTED_STATES)
    .executeTakeFirst();
  return found?.guid;
}

function presentOf(queries: Queries, tenant: TenantFilter, now: Date) {
  let query = queries.selectFrom('subscriptions').select(COLUMNS);
  if (tenant !== 'any tenant') {
    query = query.where('organization_guid', '=', tenant.organizationGuid);
    if (tenant.environment) query = query.where('environment', '=', tenant.environment);
  }
  return query.where(stateAt(now), '!=', 'deleted');
}

/** `stateOf` in SQL. */
export function stateAt(now: Date) {
  const rules = STATE_RULES.map(({ state, moment, is }) =>
    is === 'set'
      ? sql`when ${sql.ref(moment)} is not null then ${sql.lit(state)}`
      : sql`when ${sql.ref(moment)} <= ${now}::timestamptz then ${sql.lit(state)}`,
  );
  return sql<SubscriptionState>`case ${sql.join(rules, sql` `)} else ${sql.lit(FIRST_STATE)} end`;
}
