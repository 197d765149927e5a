import type { Insertable } from 'kysely';
import type { Queries, Transaction } from '../infrastructure/database/database.ts';
import type { EnvironmentName, Row, Tables } from '../infrastructure/database/tables.ts';

export type ObjectRow = Omit<Row<'objects'>, 'guid_time_differs'>;
/** The objects a token may see: those of its Organization, environment, bank and customer. */
export type Visible = {
  organizationGuid: string;
  environment?: EnvironmentName | undefined;
  bankGuid?: string | undefined;
  customerGuid?: string | undefined;
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

function visibleTo(queries: Queries, { organizationGuid, environment, bankGuid, customerGuid }: Visible) {
  let query = queries.selectFrom('objects').selectAll().where('organization_guid', '=', organizationGuid);
  if (environment) query = query.where('environment', '=', environment);
  if (bankGuid) query = query.where('bank_guid', '=', bankGuid);
  if (customerGuid) query = query.where('customer_guid', '=', customerGuid);
  return query;
}
