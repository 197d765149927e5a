import { type Insertable, type Selectable, sql } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { type Page, type PageOf, selectPage } from '../database/paging.ts';
import type { EnvironmentName, Tables } from '../database/tables.ts';

export type ObjectRow = Selectable<Tables['objects']>;

/** What a token may see: its Organization's, narrowed to its environment, its bank, its customer. */
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

/** False when the guid is taken: somebody else was first. */
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

/** Of any tenant, for the operator; nobody else changes it until the transaction ends. */
export function lockObject(transaction: Transaction, guid: string): Promise<ObjectRow | undefined> {
  return transaction
    .selectFrom('objects')
    .selectAll()
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

/** Those that are there, of any kind, by their guid. */
export async function selectNamed(
  queries: Queries,
  visible: Visible,
  guids: readonly string[],
): Promise<ReadonlyMap<string, ObjectRow>> {
  if (guids.length === 0) return new Map();
  const rows = await visibleTo(queries, visible).where('guid', 'in', guids).execute();
  return new Map(rows.map((row) => [row.guid, row]));
}

export function selectObjects(
  queries: Queries,
  visible: Visible,
  type: string,
  page: Page,
  filters: ObjectFilters,
): Promise<PageOf<ObjectRow>> {
  let query = visibleTo(queries, visible).where('type', '=', type);
  if (filters.guid) query = query.where('guid', 'in', filters.guid);
  if (filters.state) query = query.where('state', 'in', filters.state);
  if (filters.type) query = query.where(sql<string>`details ->> 'type'`, 'in', filters.type);
  if (filters.bankGuid) query = query.where('bank_guid', 'in', filters.bankGuid);
  if (filters.customerGuid) query = query.where('customer_guid', 'in', filters.customerGuid);
  if (filters.environment) query = query.where('environment', 'in', filters.environment as EnvironmentName[]);
  if (filters.createdAtGte) query = query.where('created_at', '>=', filters.createdAtGte);
  if (filters.createdAtLt) query = query.where('created_at', '<', filters.createdAtLt);
  return selectPage(queries, query, page);
}

function visibleTo(queries: Queries, { organizationGuid, environment, bankGuid, customerGuid }: Visible) {
  let query = queries.selectFrom('objects').selectAll().where('organization_guid', '=', organizationGuid);
  if (environment) query = query.where('environment', '=', environment);
  if (bankGuid) query = query.where('bank_guid', '=', bankGuid);
  if (customerGuid) query = query.where('customer_guid', '=', customerGuid);
  return query;
}
