import { sql } from 'kysely';
import { textArray, uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import type { ObjectRow } from '../store.ts';

export type Holding = { organizationGuid: string; customerGuid: string; asset: string };

/** For each holding the oldest fiat or trading account with a balance, if any. Uses the index `objects_by_holding`. */
export async function selectHoldings(
  transaction: Transaction,
  holdings: readonly Holding[],
): Promise<(Holding & { guid: string })[]> {
  if (holdings.length === 0) return [];
  const organizations = uuidArray(holdings.map(({ organizationGuid }) => organizationGuid));
  const customers = uuidArray(holdings.map(({ customerGuid }) => customerGuid));
  const { rows } = await sql<Holding & { guid: string }>`
    select wanted.organization_guid as "organizationGuid", wanted.customer_guid as "customerGuid", wanted.asset,
      account.guid
    from unnest(${organizations}, ${customers}, ${textArray(holdings.map(({ asset }) => asset))})
      as wanted(organization_guid, customer_guid, asset)
    cross join lateral (
      select guid from objects
      where organization_guid = wanted.organization_guid and customer_guid = wanted.customer_guid and type = 'account'
        and details ->> 'asset' = wanted.asset and details ->> 'type' in ('fiat', 'trading') and details ? 'balance'
      order by guid limit 1
    ) as account`.execute(transaction);
  return rows;
}

/** Locks the accounts in guid order, so that concurrent transactions cannot deadlock. */
export async function lockAccounts(
  transaction: Transaction,
  organizationGuids: readonly string[],
  guids: readonly string[],
): Promise<Map<string, ObjectRow>> {
  if (guids.length === 0) return new Map();
  const rows = await transaction
    .selectFrom('objects')
    .selectAll()
    .where(sql<boolean>`organization_guid = any(${uuidArray(organizationGuids)})`)
    .where('type', '=', 'account')
    .where(sql<boolean>`guid = any(${uuidArray(guids)})`)
    .orderBy('guid')
    .forNoKeyUpdate()
    .execute();
  return new Map(rows.map((row) => [row.guid, row]));
}
