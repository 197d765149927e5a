import { sql } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { highestGuidOf, lowestGuidOf } from './guid-window.ts';
import type { Event } from './store.ts';

/** Events created from `since` to before `until`. */
export type EventWindow = {
  organizationGuid: string;
  environment: EnvironmentName;
  since: Date;
  until: Date;
};

const FIRST_GUID = '0'.repeat(32);

/** The index gives a superset of the window; `isInWindow` is the exact condition. */
const mayBeIn = ({ organizationGuid, environment, since, until }: EventWindow) => sql`
  organization_guid = ${organizationGuid} and environment = ${environment}
  and guid >= ${lowestGuidOf(since)} and guid < ${highestGuidOf(until)}`;

const isInWindow = ({ since, until }: EventWindow) => sql`created_at >= ${since} and created_at < ${until}`;

/** Newest first: events whose guid is older than the window are few and read last. */
export async function countWindow(
  queries: Queries,
  window: EventWindow,
  { limit, maxRead }: { limit: number; maxRead: number },
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*)::int as total from (
      select 1 from (
        select created_at from events where ${mayBeIn(window)} order by guid desc limit ${maxRead}
      ) as read
      where ${isInWindow(window)} limit ${limit}
    ) as counted`.execute(queries);
  return rows[0]?.total ?? 0;
}

/** The last guid of the next `maxRead` events; undefined when fewer are left. */
export async function selectLastRead(
  transaction: Transaction,
  window: EventWindow,
  { after, maxRead }: { after: string | null; maxRead: number },
): Promise<string | undefined> {
  const { rows } = await sql<{ guid: string }>`
    select guid from events where ${mayBeIn(window)} and guid > ${after ?? FIRST_GUID}
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
    where ${mayBeIn(window)} and guid > ${after ?? FIRST_GUID} and ${upTo} and ${isInWindow(window)}
    order by guid limit ${limit}`.execute(transaction);
  return rows;
}
