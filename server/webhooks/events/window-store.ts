import { sql } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { firstGuidAt, NIL_GUID } from '../../infrastructure/runtime/guid.ts';
import { highestGuidOf, lowestGuidOf } from './guid-window.ts';
import type { Event } from './store.ts';

/** Events created from `since` to before `until`. */
export type EventWindow = {
  organizationGuid: string;
  environment: EnvironmentName;
  since: Date;
  until: Date;
};

const ofOwner = ({ organizationGuid, environment }: EventWindow) => sql`
  organization_guid = ${organizationGuid} and environment = ${environment}`;

/** The index gives a superset of the window; `isInWindow` is the exact condition. */
const mayBeIn = (window: EventWindow) => sql`
  ${ofOwner(window)} and guid >= ${lowestGuidOf(window.since)} and guid < ${highestGuidOf(window.until)}`;

const isInWindow = ({ since, until }: EventWindow) => sql`created_at >= ${since} and created_at < ${until}`;

/**
 * Reads the guids of the window, of which nearly all are in it, and on both sides those next to it: the time in a guid may
 * differ from `created_at`. `isPartial`: one of the three has `maxRead` events or more.
 */
export async function countWindow(
  queries: Queries,
  window: EventWindow,
  maxRead: number,
): Promise<{ counted: number; isPartial: boolean }> {
  const [first, end] = [firstGuidAt(window.since), firstGuidAt(window.until)];
  const events = (from: string, until: string, order: 'asc' | 'desc', part: number) => sql`(
    select ${sql.lit(part)} as part, created_at from events
    where ${ofOwner(window)} and guid >= ${from} and guid < ${until}
    order by guid ${sql.raw(order)} limit ${maxRead})`;
  const { rows } = await sql<{ counted: number; isPartial: boolean }>`
    select sum(counted)::int as counted, bool_or(read = ${maxRead}) as "isPartial" from (
      select count(*) as read, count(*) filter (where ${isInWindow(window)}) as counted
      from (
        ${events(first, end, 'desc', 1)}
        union all ${events(lowestGuidOf(window.since), first, 'desc', 2)}
        union all ${events(end, highestGuidOf(window.until), 'asc', 3)}
      ) as read
      group by part
    ) as parts`.execute(queries);
  const { counted, isPartial } = rows[0] ?? {};
  return { counted: counted ?? 0, isPartial: isPartial ?? false };
}

/** The last guid of the next `maxRead` events; undefined when fewer are left. */
export async function selectLastRead(
  transaction: Transaction,
  window: EventWindow,
  { after, maxRead }: { after: string | null; maxRead: number },
): Promise<string | undefined> {
  const { rows } = await sql<{ guid: string }>`
    select guid from events where ${mayBeIn(window)} and guid > ${after ?? NIL_GUID}
    order by guid offset ${maxRead - 1} limit 1`.execute(transaction);
  return rows[0]?.guid;
}

export async function selectWindow(
  transaction: Transaction,
  window: EventWindow,
  { after, lastRead, limit }: { after: string | null; lastRead: string | undefined; limit: number },
): Promise<Event[]> {
  const upTo = lastRead === undefined ? sql`true` : sql`guid <= ${lastRead}`;
  const { rows } = await sql<Event>`
    select * from events
    where ${mayBeIn(window)} and guid > ${after ?? NIL_GUID} and ${upTo} and ${isInWindow(window)}
    order by guid limit ${limit}`.execute(transaction);
  return rows;
}
