import { type Insertable, sql } from 'kysely';
import type { Queries, Transaction } from '../infrastructure/database/database.ts';
import type { EnvironmentName, Row, Tables } from '../infrastructure/database/tables.ts';

const NAMES = [
  'guid',
  'organization_guid',
  'environment',
  'bank_guid',
  'customer_guid',
  'type',
  'state',
  'details',
  'labels',
  'created_at',
  'updated_at',
  'ending',
  'next_move_at',
] as const;
const OBJECT_COLUMNS = sql.join(NAMES.map((name) => sql.ref(name)));
export type ObjectRow = Pick<Row<'objects'>, (typeof NAMES)[number]>;
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

/** Prepared, because the reads of single objects are the most frequent calls. */
export async function selectObject(
  queries: Queries,
  { organizationGuid, environment, bankGuid, customerGuid }: Visible,
  type: string,
  guid: string,
): Promise<ObjectRow | undefined> {
  const { rows } = await sql<ObjectRow>`
    /* prepared: select_object */
    select ${OBJECT_COLUMNS} from objects
    where guid = ${guid} and type = ${type} and organization_guid = ${organizationGuid}
      and environment = coalesce(${environment ?? null}, environment)
      and bank_guid = coalesce(${bankGuid ?? null}, bank_guid)
      and (${customerGuid ?? null}::uuid is null or customer_guid = ${customerGuid ?? null})`.execute(
    queries,
  );
  return rows[0];
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
