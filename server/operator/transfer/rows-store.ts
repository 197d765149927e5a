import { type RawBuilder, sql } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { TransferredTable } from './tables-store.ts';

/** Rows as JSON objects, so that columns follow from the schema and need no list here. */
export type Batch = { rows: string[]; from?: string; to?: string };

const BATCH_ROWS = 1_000;
const CURSOR = sql.id('transferred_rows');

/** Of the Organization, in the snapshot of the transaction. `from` and `to` bound the partition key. */
export async function* readRows(
  transaction: Transaction,
  { name, rows: condition, order, batchRows = BATCH_ROWS }: TransferredTable,
  organizationGuid: string,
): AsyncGenerator<Batch, void> {
  const key = await partitionKeyOf(transaction, name);
  const columns = await columnsOf(transaction, name);
  const selected = sql<{ row: string; key: string | null }>`
    select row_to_json(r)::text as row, ${key ? sql`to_json(r.${sql.id(key)}) #>> '{}'` : sql`null`} as key
    from (
      select ${qualified(columns)} from ${sql.table(name)} as t
      where ${condition(sql`${sql.lit(organizationGuid)}::uuid`)}
      ${order ? sql`order by ${sql.join(order)}` : sql``}
    ) as r`;
  for await (const rows of fetchAll(transaction, selected, batchRows))
    yield { rows: rows.map(({ row }) => row), ...boundsOf(rows) };
}

function qualified(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql`t.${sql.id(column)}`));
}

async function* fetchAll<Row>(
  transaction: Transaction,
  query: RawBuilder<Row>,
  batchRows: number,
): AsyncGenerator<Row[], void> {
  await sql`declare ${CURSOR} no scroll cursor for ${query}`.execute(transaction);
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(batchRows)} from ${CURSOR}`.execute(transaction);
    if (rows.length > 0) yield rows;
    if (rows.length < batchRows) break;
  }
  await sql`close ${CURSOR}`.execute(transaction);
}

function boundsOf(rows: readonly { key: string | null }[]): { from?: string; to?: string } {
  const [first] = rows;
  if (!first || first.key === null) return {};
  let [from, to] = [first.key, first.key];
  for (const { key } of rows as readonly { key: string }[]) {
    if (key < from) from = key;
    if (key > to) to = key;
  }
  return { from, to };
}

/**
 * An Organization may move back to an installation that kept its audit records. Removals of earlier versions left attempts,
 * which are the same.
 */
const LEFT_IF_PRESENT: ReadonlySet<string> = new Set(['audit_records', 'delivery_attempts']);

/** `json` is an array of rows. */
export async function insertRows(
  queries: Queries,
  table: string,
  names: readonly string[],
  json: string,
): Promise<void> {
  const columns = sql.join(names.map((name) => sql.id(name)));
  await sql`
    insert into ${sql.table(table)} (${columns})
    select ${columns} from json_populate_recordset(null::${sql.table(table)}, ${json}::json)
    ${LEFT_IF_PRESENT.has(table) ? sql`on conflict do nothing` : sql``}`.execute(queries);
}

/**
 * Deletes the rows of the Organization in batches; yields the number of each. A cursor in `reading` finds the rows of all
 * batches: a query for each would read the index entries of the deleted rows again, which stay until a vacuum.
 */
export async function* deleteRows(
  { reading, deleting }: { reading: Transaction; deleting: Queries },
  { name, rows: condition, order }: TransferredTable,
  organizationGuid: string,
  batchRows: number,
): AsyncGenerator<number, void> {
  const key = qualified(await primaryKeyOf(reading, name));
  const keys = sql<{ key: string }>`
    select row_to_json(r)::text as key from (
      select ${key} from ${sql.table(name)} as t
      where ${condition(sql`${sql.lit(organizationGuid)}::uuid`)}
      ${order ? sql`order by ${sql.join(order.map((by) => sql`${by} desc`))}` : sql``}
    ) as r`;
  for await (const batch of fetchAll(reading, keys, batchRows)) {
    const json = `[${batch.map((row) => row.key).join(',')}]`;
    const { numAffectedRows } = await sql`
      delete from ${sql.table(name)} as t where (${key}) in (
        select ${key} from json_populate_recordset(null::${sql.table(name)}, ${json}::json) as t)`.execute(
      deleting,
    );
    yield Number(numAffectedRows ?? 0);
  }
}

export async function columnsOf(queries: Queries, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''
    order by attnum`.execute(queries);
  return rows.map(({ name }) => name);
}

async function primaryKeyOf(queries: Queries, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
    where indrelid = ${table}::regclass and indisprimary order by attnum`.execute(queries);
  return rows.map(({ name }) => name);
}

async function partitionKeyOf(queries: Queries, table: string): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_partitioned_table join pg_attribute on attrelid = partrelid and attnum = partattrs[0]
    where partrelid = ${table}::regclass`.execute(queries);
  return rows[0]?.name;
}

export async function schemaOf(queries: Queries): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from schema_migrations order by name`.execute(
    queries,
  );
  return rows.map(({ name }) => name);
}

/** Before the first statement. A fetch reads to the end, so that the plan is chosen for all rows. */
export async function beginSnapshot(transaction: Transaction): Promise<void> {
  await sql`set transaction isolation level repeatable read, read only`.execute(transaction);
  await sql`set local cursor_tuple_fraction = 1`.execute(transaction);
  // The least and the greatest key of a batch are compared as text.
  await sql`set local timezone = 'UTC'`.execute(transaction);
  await markAsTransfer(transaction);
}

/** A freeze does not wait for transactions with this name: they may be long, and write no rows of a frozen Organization. */
const TRANSFER = 'portico transfer';

export async function markAsTransfer(transaction: Transaction): Promise<void> {
  await sql`set local application_name = ${sql.lit(TRANSFER)}`.execute(transaction);
  // Behind a pooler the limits are those of the role, and a transfer waits for the network within its transaction.
  await sql`set local statement_timeout = 0`.execute(transaction);
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction);
}

/** Transactions of this service that are open now, other than transfers. */
export async function selectOpenTransactions(queries: Queries): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select pid || ' ' || xact_start::text as id from pg_stat_activity
    where datname = current_database() and usename = current_user and xact_start is not null
      and pid <> pg_backend_pid() and application_name <> ${TRANSFER}`.execute(queries);
  return rows.map(({ id }) => id);
}
