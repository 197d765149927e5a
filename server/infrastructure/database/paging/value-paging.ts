import { type RawBuilder, sql } from 'kysely';
import type { Queries } from '../database.ts';
import { completePage, MAX_COUNTED, type Page, type PageOf } from './paging.ts';

type Sql = RawBuilder<unknown>;

/** A column and the array of its accepted values. */
export type Narrowing = { column: Sql; values: Sql };

/** The rows of a table that meet `where` and have one of the values in each of the columns, in index order. */
export type Narrowed = { table: string; where: readonly Sql[]; each: readonly Narrowing[] };

/**
 * A page of the rows of several values. An index that ends with the guid orders the rows of each combination of values,
 * but not of several; so each combination is read separately, up to the end of the page. In one scan PostgreSQL would
 * sort all matching rows or skip all others.
 */
export async function selectPageOfEach<Row extends { guid: string }>(
  queries: Queries,
  sources: readonly Narrowed[],
  page: Page,
): Promise<PageOf<Row>> {
  const { offset, perPage, after } = page;
  const merged = (columns: Sql, limit: number, before: string | undefined) =>
    sql.join(
      sources.map((source) => sql`(${newestOfEach(source, columns, limit, before)})`),
      sql` union all `,
    );
  const { rows: found } = await sql<Row>`
    select * from (${merged(sql`*`, offset + perPage + 1, after)}) as merged
    order by guid desc limit ${perPage + 1} offset ${offset}`.execute(queries);
  const counted = sql`select 1 from (${merged(sql`guid`, MAX_COUNTED, undefined)}) as merged limit ${MAX_COUNTED}`;
  return completePage(queries, { found, page, key: 'guid' }, counted);
}

/** Without a count, for keyset iteration. */
export async function selectNewestOfEach<Row extends { guid: string }>(
  queries: Queries,
  source: Narrowed,
  limit: number,
  before: string | undefined,
): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select * from (${newestOfEach(source, sql`*`, limit, before)}) as merged
    order by guid desc limit ${limit}`.execute(queries);
  return rows;
}

/**
 * The last column is compared as a range of one value and comes first in the order, so that only an index with this
 * column before the guid fits. With an equality PostgreSQL might use the primary key and scan past the rows of other
 * tenants.
 */
function newestOfEach(
  { table, where, each }: Narrowed,
  columns: Sql,
  limit: number,
  before: string | undefined,
): Sql {
  const isBefore = before === undefined ? [] : [sql`guid < ${before}`];
  const last = each.at(-1);
  if (!last)
    return sql`
      select ${columns} from ${sql.table(table)} where ${sql.join([...where, ...isBefore], sql` and `)}
      order by guid desc limit ${limit}`;
  const value = (index: number) => sql.ref(`v${index}.value`);
  const conditions = each.map(({ column }, index) =>
    index === each.length - 1
      ? sql`${column} >= ${value(index)} and ${column} <= ${value(index)}`
      : sql`${column} = ${value(index)}`,
  );
  const arrays = each.map(({ values }, index) => sql`unnest(${values}) as ${sql.id(`v${index}`)}(value)`);
  return sql`
    select own.* from ${sql.join(arrays, sql` cross join `)} cross join lateral (
      select ${columns} from ${sql.table(table)}
      where ${sql.join([...where, ...conditions, ...isBefore], sql` and `)}
      order by ${last.column} desc, guid desc limit ${limit}
    ) as own`;
}

export function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
