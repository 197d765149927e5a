import { sql } from 'kysely';
import { uuidArray } from '../../../../infrastructure/database/arrays.ts';
import type { Queries } from '../../../../infrastructure/database/database.ts';

/** Changed endpoints that dispatchers have not read yet. */
export type EndpointNotice = { guid: string; subscriptionGuid: string };

export async function selectDispatchers(queries: Queries, now: Date): Promise<string[]> {
  const rows = await queries
    .selectFrom('dispatchers')
    .select('guid')
    .where('lease_until', '>', now)
    .execute();
  return rows.map(({ guid }) => guid);
}

/** Skips dispatchers that have ended in the meantime. */
export async function insertNotices(
  queries: Queries,
  subscriptionGuid: string,
  notices: readonly { guid: string; dispatcher: string }[],
): Promise<void> {
  await sql`
    insert into endpoint_notices (guid, dispatcher_guid, subscription_guid)
    select n.guid, d.guid, ${subscriptionGuid}
    from unnest(${uuidArray(notices.map(({ guid }) => guid))},
                ${uuidArray(notices.map(({ dispatcher }) => dispatcher))}) as n(guid, dispatcher)
    join dispatchers as d on d.guid = n.dispatcher
    order by d.guid
    for key share of d`.execute(queries);
}

export function selectNotices(
  queries: Queries,
  dispatcher: string,
  limit: number,
): Promise<EndpointNotice[]> {
  return queries
    .selectFrom('endpoint_notices')
    .select(['guid', 'subscription_guid as subscriptionGuid'])
    .where('dispatcher_guid', '=', dispatcher)
    .limit(limit)
    .execute();
}

export async function deleteNotices(queries: Queries, guids: readonly string[]): Promise<void> {
  await sql`delete from endpoint_notices where guid = any(${uuidArray(guids)})`.execute(queries);
}

/** Whether a dispatcher with a valid lease has not read one of these notices. */
export async function areUnread(queries: Queries, guids: readonly string[], now: Date): Promise<boolean> {
  const { rows } = await sql`
    select 1 from endpoint_notices as n join dispatchers as d on d.guid = n.dispatcher_guid
    where n.guid = any(${uuidArray(guids)}) and d.lease_until > ${now} limit 1`.execute(queries);
  return rows.length > 0;
}
