import type pg from 'pg';
import { HISTORY_TABLES } from '../../server/infrastructure/database/partitions/partitions.ts';

/** The template has the weeks of a retention of 30 days. The nodes create those that begin later, which may be days. */
export async function dropFuturePartitions(side: pg.Client, now: Date): Promise<void> {
  const today = now.toISOString().slice(0, 10).replaceAll('-', '_');
  const { rows } = await side.query<{ name: string }>(
    `select relname as name from pg_inherits join pg_class on oid = inhrelid
     where inhparent::regclass::text = any($1) and right(relname, $2) > $3`,
    [HISTORY_TABLES.map(({ name }) => name), today.length, today],
  );
  for (const { name } of rows) await side.query(`drop table ${name}`);
}
