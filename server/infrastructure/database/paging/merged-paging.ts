import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Queries } from '../database.ts';
import { completePage, MAX_COUNTED, type Page, type PageOf } from './paging.ts';

/**
 * A page over several queries. Where an index orders the rows of each query but not of all, one query would sort
 * everything for every page; so each query returns at most one page, and only those rows are sorted.
 */
export async function selectMergedPage<DB, TB extends keyof DB, Row extends { guid: string }>(
  queries: Queries,
  parts: readonly SelectQueryBuilder<DB, TB, Row>[],
  page: Page,
): Promise<PageOf<Row>> {
  const guid = sql.ref('guid');
  const reach = page.offset + page.perPage + 1;
  const heads = parts.map((part) => {
    const from = page.after === undefined ? part : part.where(sql<boolean>`${guid} < ${page.after}`);
    return sql`(${from.orderBy(guid, 'desc').limit(reach)})`;
  });
  const { rows: found } = await sql<Row>`
    select * from (${together(heads)}) as merged
    order by guid desc limit ${page.perPage + 1} offset ${page.offset}`.execute(queries);
  const counted = parts.map(
    (part) => sql`(${part.clearSelect().select(sql`1`.as('one')).limit(MAX_COUNTED)})`,
  );
  return completePage(queries, { found, page, key: 'guid' }, sql`${together(counted)} limit ${MAX_COUNTED}`);
}

function together(parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql.join(parts, sql` union all `);
}
