import { type SelectQueryBuilder, sql } from 'kysely';
import type { Queries } from './database.ts';

export type Page = { number: number; perPage: number; offset: number; after: string | undefined };
export type PageOf<Row> = { rows: Row[]; total: number; next: string | undefined };

/** Counting stops here, so that a list costs the same over ten thousand rows and over a billion. */
export const MAX_COUNTED = 10_000;

/** Newest first by guid (its time bits), by number or after a guid; one row more tells whether there is a next page. */
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
  const rows = found.slice(0, page.perPage);
  const counted = query.clearSelect().select(sql`1`.as('one')).limit(MAX_COUNTED);
  const { rows: counts } = await sql<{ total: number }>`
    select count(*)::int as total from (${counted}) as counted`.execute(queries);
  return {
    rows,
    total: counts[0]?.total ?? 0,
    next: found.length > page.perPage ? String(rows.at(-1)?.[key]) : undefined,
  };
}
