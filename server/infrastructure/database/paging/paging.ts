import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Queries } from '../database.ts';

export type Page = { number: number; perPage: number; offset: number; after: string | undefined };
export type PageOf<Row> = { rows: Row[]; total: number; next: string | undefined };

/** Limits the cost of counting in lists. */
export const MAX_COUNTED = 10_000;

type Found<Row> = { found: Row[]; page: Page; key: keyof Row & string };

/**
 * Builds the page from the rows found, which include one more than fits. When the last row of the list is among them,
 * the total is known without counting.
 */
export async function completePage<Row extends object>(
  queries: Queries,
  { found, page: { perPage, offset, after }, key }: Found<Row>,
  /** One row per row of the list, up to `MAX_COUNTED`. */
  counted: RawBuilder<unknown>,
): Promise<PageOf<Row>> {
  const rows = found.slice(0, perPage);
  if (found.length > perPage)
    return { rows, total: await countRows(queries, counted), next: String(rows.at(-1)?.[key]) };
  const isWhole = after === undefined && (offset === 0 || rows.length > 0);
  const total = isWhole ? Math.min(offset + rows.length, MAX_COUNTED) : await countRows(queries, counted);
  return { rows, total, next: undefined };
}

async function countRows(queries: Queries, counted: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*)::int as total from (${counted}) as counted`.execute(queries);
  return rows[0]?.total ?? 0;
}

/** Newest first by guid, by page number or after a guid. One extra row shows whether there is a next page. */
export async function selectPage<DB, TB extends keyof DB, Row extends object>(
  queries: Queries,
  query: SelectQueryBuilder<DB, TB, Row>,
  page: Page,
  key: keyof Row & string = 'guid' as keyof Row & string,
): Promise<PageOf<Row>> {
  const guid = sql.ref(key);
  const from = page.after === undefined ? query : query.where(sql<boolean>`${guid} < ${page.after}`);
  const found = await from
    .orderBy(guid, 'desc')
    .limit(page.perPage + 1)
    .offset(page.offset)
    .execute();
  const counted = query.clearSelect().select(sql`1`.as('one')).limit(MAX_COUNTED);
  return completePage(queries, { found, page, key }, sql`${counted}`);
}
