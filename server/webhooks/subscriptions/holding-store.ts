import { sql } from 'kysely';
import { uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Queries } from '../../infrastructure/database/database.ts';

/** Subscriptions that hold deliveries back: paused, or before the first 2xx of their endpoint. */

/** Whether deliveries of a subscription wait for the end of a pause or for a first 2xx, as part of a statement. */
export const isHolding = (guid: string) => sql<boolean>`exists (
  select 1 from subscriptions where guid = ${guid} and (paused_at is not null or activated_at is null))`;

/** The inactive and paused ones among these subscriptions. */
export function selectHolding(queries: Queries, guids: readonly string[]) {
  return queries
    .selectFrom('subscriptions')
    .select(['guid', 'paused_at'])
    .select(({ eb }) =>
      eb
        .case()
        .when('activated_at', 'is', null)
        .then(eb.ref('first_delivery_guid'))
        .end()
        .as('first_delivery_guid'),
    )
    .where('guid', '=', sql<string>`any(${uuidArray(guids)})`)
    .where(({ or, eb }) => or([eb('activated_at', 'is', null), eb('paused_at', 'is not', null)]))
    .execute();
}

/** Paused ones, and those whose endpoint fails before its first 2xx, in guid order, after `after`. */
export async function selectHoldingAfter(
  queries: Queries,
  after: string,
  { createdBefore, limit }: { createdBefore: Date; limit: number },
): Promise<string[]> {
  const wanted = sql`deleted_at is null and not frozen and created_at < ${createdBefore} and guid > ${after}`;
  // Each part has an index of its own, also before the table is analyzed.
  const { rows } = await sql<{ guid: string }>`
    select guid from subscriptions where paused_at is not null and ${wanted}
    union
    select guid from subscriptions
    where deliveries_failing_since is not null and failed_at is null and activated_at is null and ${wanted}
    order by guid limit ${limit}`.execute(queries);
  return rows.map(({ guid }) => guid);
}
