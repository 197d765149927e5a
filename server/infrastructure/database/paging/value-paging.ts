import { type RawBuilder, sql } from 'kysely';
import type { Queries } from '../database.ts';
import { completePage, MAX_COUNTED, type Page, type PageOf } from './paging.ts';

type Sql = RawBuilder<unknown>;

/** A column and the array of its accepted values. */
export type Narrowing = { column: Sql; values: Sql };

/** The rows of a table that meet `where` and have one of the values in each of the columns, in index order. */
export type Narrowed = {
  table: string;
  where: readonly Sql[];
  each: readonly Narrowing[];
  /**
   * Only guids from the first to before the second. The range is compared together with the last column: PostgreSQL might
   * use the primary key for a range of guids alone, and read the rows of other tenants.
   */
  window?: readonly [from: string, until: string];
  /** Returns the rows of another table with these guids, if they meet its `where`. */
  lookup?: { table: string; where: readonly Sql[] };
  /** The most rows of `table` with the same guid; 1 by default. */
  rowsOfGuid?: number;
  /** A column with a range in `where`: the rows of the range are read by its index and sorted. */
  range?: Sql;
};

/**
 * A page of the rows of several values. An index that ends with the guid orders the rows of each combination of values,
 * but not of several; so each combination is read separately, up to the end of the page. In one scan PostgreSQL would
 * sort all matching rows or skip all others.
 */
export async function selectPageOfEach<Row extends { guid: string }>(
  queries: Queries,
  sources: readonly Narrowed[],
  page: Page,
  /** Sources of the same rows that are cheaper to count. */
  counted = sources,
): Promise<PageOf<Row>> {
  const { offset, perPage, after } = page;
  const { rows: found } = await sql<Row>`
    select distinct on (guid) * from (${merged(sources, 'rows', offset + perPage + 1, after)}) as merged
    order by guid desc limit ${perPage + 1} offset ${offset}`.execute(queries);
  return completePage(queries, { found, page, key: 'guid' }, guidsOf(counted, MAX_COUNTED));
}

export async function hasMoreThan(queries: Queries, source: Narrowed, limit: number): Promise<boolean> {
  const { rows } = await sql<{ exceeds: boolean }>`
    select count(*) > ${limit} as exceeds from (${guidsOf([source], limit + 1)}) as counted`.execute(queries);
  return rows[0]?.exceeds ?? false;
}

function guidsOf(sources: readonly Narrowed[], limit: number): Sql {
  const rowsOfGuid = Math.max(...sources.map((source) => source.rowsOfGuid ?? 1));
  const listed = sql`
    select guid from (${merged(sources, 'guids', limit, undefined)}) as merged limit ${limit * rowsOfGuid}`;
  return rowsOfGuid === 1 ? listed : sql`select distinct guid from (${listed}) as listed limit ${limit}`;
}

function merged(sources: readonly Narrowed[], read: Read, limit: number, before: string | undefined): Sql {
  return sql.join(
    sources.map((source) => sql`(${newestOfEach(source, read, limit, before)})`),
    sql` union all `,
  );
}

/** Without a count, for keyset iteration. */
export async function selectNewestOfEach<Row extends { guid: string }>(
  queries: Queries,
  source: Narrowed,
  limit: number,
  before: string | undefined,
): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select * from (${newestOfEach(source, 'rows', limit, before)}) as merged
    order by guid desc limit ${limit}`.execute(queries);
  return rows;
}

type Read = 'rows' | 'guids';

/**
 * The last column is compared as a range of one value and comes first in the order, so that only an index with this
 * column before the guid fits. With an equality PostgreSQL might use the primary key and scan past the rows of other
 * tenants.
 */
function newestOfEach(source: Narrowed, read: Read, limit: number, before: string | undefined): Sql {
  const { where, each, range, window } = source;
  const isBefore = before === undefined ? [] : [sql`guid < ${before}`];
  const last = each.at(-1);
  if (!last) return newest(source, read, [...where, ...isBefore], sql`listed.guid desc`, limit);
  const value = (index: number) => sql.ref(`v${index}.value`);
  const conditions = each.map(({ column }, index) => {
    if (index < each.length - 1 || range) return sql`${column} = ${value(index)}`;
    return window
      ? sql`(${column}, guid) >= (${value(index)}, ${window[0]}) and (${column}, guid) < (${value(index)}, ${window[1]})`
      : sql`${column} >= ${value(index)} and ${column} <= ${value(index)}`;
  });
  const arrays = each.map(({ values }, index) => sql`unnest(${values}) as ${sql.id(`v${index}`)}(value)`);
  const order = range ? sql`listed.guid desc` : sql`${last.column} desc, listed.guid desc`;
  return sql`
    select own.* from ${sql.join(arrays, sql` cross join `)} cross join lateral (
      ${newest(source, read, [...where, ...conditions, ...isBefore], order, limit)}
    ) as own`;
}

/**
 * The `limit 1` of each look-up keeps the planner from scanning the other table. `order by guid` would be the guid of the
 * selected row, which no index orders.
 */
function newest(
  { table, lookup, range }: Narrowed,
  read: Read,
  conditions: readonly Sql[],
  order: Sql,
  limit: number,
): Sql {
  const rows = sql.table(table);
  const where = sql.join(conditions, sql` and `);
  const columns = read === 'rows' ? sql`*` : sql`guid`;
  if (range && read === 'guids')
    return sql`select guid from ${rows} where ${where} order by ${range} limit ${limit}`;
  // `offset 0` keeps the planner from merging the two queries and reading in the order of the guids.
  if (range)
    return sql`
      select * from (select * from ${rows} where ${where} order by ${range} offset 0) as listed
      order by ${order} limit ${limit}`;
  if (!lookup || (read === 'guids' && lookup.where.length === 0))
    return sql`select ${columns} from ${rows} as listed where ${where} order by ${order} limit ${limit}`;
  const other = sql.table(lookup.table);
  const matches = sql.join([sql`found.guid = listed.guid`, ...lookup.where], sql` and `);
  return sql`
    select ${read === 'rows' ? sql`(looked_up.record).*` : columns} from ${rows} as listed cross join lateral (
      select found as record from ${other} as found where ${matches} limit 1
    ) as looked_up
    where ${where} order by ${order} limit ${limit}`;
}

export function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
