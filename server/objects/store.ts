import { type Insertable, type RawBuilder, sql } from 'kysely';
import { textArray, uuidArray } from '../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../infrastructure/database/database.ts';
import type { Page, PageOf } from '../infrastructure/database/paging/paging.ts';
import {
  distinct,
  type Narrowing,
  selectPageOfEach,
} from '../infrastructure/database/paging/value-paging.ts';
import type { EnvironmentName, Row, Tables } from '../infrastructure/database/tables.ts';
import { later } from '../infrastructure/runtime/clock.ts';
import { firstGuidAt } from '../infrastructure/runtime/guid.ts';

export type ObjectRow = Omit<Row<'objects'>, 'guid_time_differs'>;
type Sql = RawBuilder<unknown>;

const ENVIRONMENTS: readonly EnvironmentName[] = ['production', 'sandbox'];
const TYPE_IN_DETAILS = sql`(details ->> 'type')`;
/**
 * The most that the time in a guid differs from `created_at`. A trigger marks all other rows as `guid_time_differs`
 * (migration 0017, with the same limit).
 */
const MAX_GUID_TIME_DIFFERENCE_MS = 5 * 60_000;
const LOWEST_GUID = '0'.repeat(32);
const HIGHEST_GUID = 'f'.repeat(32);

/** The objects a token may see: those of its Organization, environment, bank and customer. */
export type Visible = {
  organizationGuid: string;
  environment?: EnvironmentName | undefined;
  bankGuid?: string | undefined;
  customerGuid?: string | undefined;
};

export type ObjectFilters = {
  guid?: readonly string[] | undefined;
  state?: readonly string[] | undefined;
  type?: readonly string[] | undefined;
  bankGuid?: readonly string[] | undefined;
  customerGuid?: readonly string[] | undefined;
  environment?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
};

/** False when the guid exists already. */
export async function insertObject(transaction: Transaction, object: ObjectRow): Promise<boolean> {
  const inserted = await transaction
    .insertInto('objects')
    .values(columnsOf(object))
    .onConflict((conflict) => conflict.column('guid').doNothing())
    .returning('guid')
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function updateObject(transaction: Transaction, object: ObjectRow): Promise<void> {
  const { guid, ...columns } = columnsOf(object);
  await transaction.updateTable('objects').set(columns).where('guid', '=', guid).execute();
}

function columnsOf(object: ObjectRow): Insertable<Tables['objects']> {
  return { ...object, details: JSON.stringify(object.details) };
}

/** Of any tenant, for the operator. Locks the row until the transaction ends. */
export function lockObject(transaction: Transaction, guid: string): Promise<ObjectRow | undefined> {
  return transaction
    .selectFrom('objects')
    .selectAll()
    .where('guid', '=', guid)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Locks the row until the transaction ends. */
export function lockVisible(
  transaction: Transaction,
  visible: Visible,
  type: string,
  guid: string,
): Promise<ObjectRow | undefined> {
  return visibleTo(transaction, visible)
    .where('type', '=', type)
    .where('guid', '=', guid)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export function selectObject(
  queries: Queries,
  visible: Visible,
  type: string,
  guid: string,
): Promise<ObjectRow | undefined> {
  return visibleTo(queries, visible).where('type', '=', type).where('guid', '=', guid).executeTakeFirst();
}

/** The existing objects of any type, by guid. */
export async function selectNamed(
  queries: Queries,
  visible: Visible,
  guids: readonly string[],
): Promise<ReadonlyMap<string, ObjectRow>> {
  if (guids.length === 0) return new Map();
  const rows = await visibleTo(queries, visible).where('guid', 'in', guids).execute();
  return new Map(rows.map((row) => [row.guid, row]));
}

/**
 * Uses the index of the narrowest filter: the customer, the bank or the environment, with the state or the type
 * in the details. Other filters are checked on the rows.
 */
export function selectObjects(
  queries: Queries,
  visible: Visible,
  type: string,
  page: Page,
  filters: ObjectFilters,
): Promise<PageOf<ObjectRow>> {
  const where = conditionsOf(visible, filters);
  const kind = { column: sql`type`, values: textArray([type]) };
  const each = [ownerNarrowing(visible, filters), kind, ...detailNarrowings(filters)];
  const ofKind = [...where, sql`type = ${type}`];
  if (filters.guid) return selectPageOfEach(queries, [{ table: 'objects', where: ofKind, each: [] }], page);
  const { createdAtGte: from, createdAtLt: until } = filters;
  if (!from && !until) return selectPageOfEach(queries, [{ table: 'objects', where, each }], page);
  const lowest = from ? firstGuidAt(later(from, -MAX_GUID_TIME_DIFFERENCE_MS)) : LOWEST_GUID;
  const highest = until ? firstGuidAt(later(until, MAX_GUID_TIME_DIFFERENCE_MS)) : HIGHEST_GUID;
  const isInWindow = sql`guid >= ${lowest} and guid < ${highest}`;
  return selectPageOfEach(
    queries,
    [
      { table: 'objects', where: [...where, isInWindow], each },
      // The core may report an object long after the time in its guid.
      { table: 'objects', where: [...ofKind, sql`guid_time_differs and not (${isInWindow})`], each: [] },
    ],
    page,
  );
}

function conditionsOf(visible: Visible, filters: ObjectFilters): Sql[] {
  const { organizationGuid, environment, bankGuid, customerGuid } = visible;
  const where = [sql`organization_guid = ${organizationGuid}`];
  if (environment) where.push(sql`environment = ${environment}`);
  if (bankGuid) where.push(sql`bank_guid = ${bankGuid}`);
  if (customerGuid) where.push(sql`customer_guid = ${customerGuid}`);
  if (filters.guid) where.push(sql`guid = any(${uuidArray(filters.guid)})`);
  if (filters.state) where.push(sql`state = any(${textArray(filters.state)})`);
  if (filters.type) where.push(sql`${TYPE_IN_DETAILS} = any(${textArray(filters.type)})`);
  if (filters.bankGuid) where.push(sql`bank_guid = any(${uuidArray(filters.bankGuid)})`);
  if (filters.customerGuid) where.push(sql`customer_guid = any(${uuidArray(filters.customerGuid)})`);
  if (filters.environment) where.push(sql`environment = any(${textArray(filters.environment)})`);
  if (filters.createdAtGte) where.push(sql`created_at >= ${filters.createdAtGte}`);
  if (filters.createdAtLt) where.push(sql`created_at < ${filters.createdAtLt}`);
  return where;
}

/** The filter with the fewest objects. */
function ownerNarrowing(visible: Visible, filters: ObjectFilters): Narrowing {
  const customers = visible.customerGuid ? [visible.customerGuid] : filters.customerGuid;
  if (customers) return { column: sql`customer_guid`, values: uuidArray(distinct(customers)) };
  const banks = visible.bankGuid ? [visible.bankGuid] : filters.bankGuid;
  if (banks) return { column: sql`bank_guid`, values: uuidArray(distinct(banks)) };
  const environments = visible.environment ? [visible.environment] : (filters.environment ?? ENVIRONMENTS);
  return { column: sql`environment`, values: textArray(distinct(environments)) };
}

function detailNarrowings({ state, type }: ObjectFilters): Narrowing[] {
  if (state) return [{ column: sql`state`, values: textArray(distinct(state)) }];
  return type ? [{ column: TYPE_IN_DETAILS, values: textArray(distinct(type)) }] : [];
}

function visibleTo(queries: Queries, { organizationGuid, environment, bankGuid, customerGuid }: Visible) {
  let query = queries.selectFrom('objects').selectAll().where('organization_guid', '=', organizationGuid);
  if (environment) query = query.where('environment', '=', environment);
  if (bankGuid) query = query.where('bank_guid', '=', bankGuid);
  if (customerGuid) query = query.where('customer_guid', '=', customerGuid);
  return query;
}
