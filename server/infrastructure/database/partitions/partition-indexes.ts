import { sql } from 'kysely';
import type { Log } from '../../runtime/log.ts';
import { tryRunUnderLock } from '../advisory-lock.ts';
import type { Database, Queries } from '../database.ts';
import { buildTableIndex, readMissingTableIndexes } from './table-indexes.ts';

/**
 * A migration creates a new index of a partitioned table on the parent only, which takes no time. New partitions get it
 * from there; this builds it on existing partitions, one at a time, without blocking writes.
 */
type MissingIndex = { parent: string; partition: string; definition: string };

/** A concurrent build waits for open transactions; one that stays open longer fails this run. */
const LOCK_TIMEOUT = '60s';
const DEFINITION = /^CREATE INDEX \S+ ON ONLY \S+ (.+)$/;

type Missing = { name: string; isEmpty: boolean; build(connection: Queries): Promise<void> };

/** Builds the missing indexes of tables and partitions and returns their names; the next call retries failed builds. */
export async function buildMissingIndexes({
  database,
  log,
}: {
  database: Database;
  log: Log;
}): Promise<string[]> {
  if ((await readAllMissing(database.queries)).length === 0) return [];
  const built: string[] = [];
  const work = async (connection: Queries) => {
    await sql`set lock_timeout = ${sql.lit(LOCK_TIMEOUT)}`.execute(connection);
    for (const { name, isEmpty, build } of await readAllMissing(connection)) {
      try {
        await build(connection);
        // Those of a new database are logged at debug level only.
        log[isEmpty ? 'debug' : 'info']({ index: name }, 'built a missing index');
        built.push(name);
      } catch (error) {
        log.warn({ index: name, reason: String(error) }, 'could not build a missing index');
      }
    }
  };
  // No statement timeout: an index of a large partition may take hours.
  await tryRunUnderLock(database, 'build partition indexes', work, {});
  return built;
}

/** Without them lists, and claims of deliveries, read whole tables. */
export async function namesOfMissingIndexes(queries: Queries): Promise<string[]> {
  return (await readAllMissing(queries)).map(({ name }) => name);
}

async function readAllMissing(queries: Queries): Promise<Missing[]> {
  const ofTables = (await readMissingTableIndexes(queries)).map((missing) => ({
    ...missing,
    build: (connection: Queries) => buildTableIndex(connection, missing),
  }));
  const ofPartitions = (await readMissing(queries)).map((missing) => {
    const name = `${missing.partition}_${missing.parent}`;
    return { name, isEmpty: false, build: (connection: Queries) => build(connection, missing, name) };
  });
  return [...ofTables, ...ofPartitions];
}

async function build(
  connection: Queries,
  { parent, partition, definition }: MissingIndex,
  name: string,
): Promise<void> {
  const rest = DEFINITION.exec(definition)?.[1];
  if (rest === undefined) throw new Error(`${parent} is not a plain index`);
  // An interrupted build leaves an invalid index.
  await sql`drop index concurrently if exists ${sql.table(name)}`.execute(connection);
  await sql`create index concurrently ${sql.id(name)} on ${sql.table(partition)} ${sql.raw(rest)}`.execute(
    connection,
  );
  await sql`alter index ${sql.table(parent)} attach partition ${sql.table(name)}`.execute(connection);
}

async function readMissing(queries: Queries): Promise<MissingIndex[]> {
  const { rows } = await sql<MissingIndex>`
    select parent_index.relname as parent, child.relname as partition, pg_get_indexdef(parent_index.oid) as definition
    from pg_index as own
    join pg_class as parent_index on parent_index.oid = own.indexrelid and parent_index.relkind = 'I'
    join pg_inherits as partitions on partitions.inhparent = own.indrelid and not partitions.inhdetachpending
    join pg_class as child on child.oid = partitions.inhrelid
    where pg_table_is_visible(own.indrelid) and not exists (
      select from pg_inherits as indexes
      join pg_index as attached on attached.indexrelid = indexes.inhrelid
      where indexes.inhparent = parent_index.oid and attached.indrelid = child.oid)
    order by child.relname desc, parent_index.relname`.execute(queries);
  return rows;
}
