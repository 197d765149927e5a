import { sql } from 'kysely';
import type { Queries, Transaction } from '../../../../infrastructure/database/database.ts';
import { firstGuidAt, NIL_GUID } from '../../../../infrastructure/runtime/guid.ts';
import { guidsOfWindow } from '../../guid-window.ts';
import type { EventContent } from '../../queue/enqueue.ts';
import type { Redelivery, Window } from './redelivery-store.ts';

/** Failed deliveries of a window. */

/** From the partial index alone, so by the time in the guids; for any number of them. */
export async function countFailed(
  transaction: Transaction,
  { subscription_guid, since, until }: Window,
): Promise<number> {
  const { count } = await transaction
    .selectFrom('deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('subscription_guid', '=', subscription_guid)
    .where('failed_at', 'is not', null)
    .where('guid', '>=', firstGuidAt(since))
    .where('guid', '<', firstGuidAt(until))
    .executeTakeFirstOrThrow();
  return count;
}

/** Failed deliveries that a redelivery would send again, among the first `limit`. */
export async function countRedeliverable(
  queries: Queries,
  window: Window & { at: Date },
  limit: number,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*)::int as total from (${failedOf(window, NIL_GUID, limit)}) as d
    ${superseding(window)} where newer.guid is null`.execute(queries);
  return rows[0]?.total ?? 0;
}

export type FailedDelivery = {
  guid: string;
  event: EventContent;
  /** A newer delivery of the event exists that has not failed, or that this redelivery includes. */
  superseded: boolean;
};

type FailedRow = Omit<EventContent, 'guid'> & { guid: string; event_guid: string; superseded: boolean };

/** The next failed deliveries of a redelivery, in guid order. */
export async function selectFailed(
  transaction: Transaction,
  redelivery: Redelivery,
  limit: number,
): Promise<FailedDelivery[]> {
  const window = { ...redelivery, at: redelivery.created_at };
  const { rows } = await sql<FailedRow>`
    select d.guid, event_guid, organization_guid, bank_guid, event_type, object_guid, environment,
           newer.guid is not null as superseded
    from (${failedOf(window, redelivery.reached ?? NIL_GUID, limit)}) as d
    ${superseding(window)}
    order by d.guid`.execute(transaction);
  return rows.map(({ guid, event_guid, superseded, ...event }) => ({
    guid,
    superseded,
    event: { ...event, guid: event_guid },
  }));
}

/** Failed by `at`. */
function failedOf(
  { subscription_guid, since, until, at }: Window & { at: Date },
  after: string,
  limit: number,
) {
  const { from, to } = guidsOfWindow(since, until);
  return sql`
    select * from deliveries
    where subscription_guid = ${subscription_guid} and failed_at is not null
      and guid > ${after} and guid >= ${from} and guid < ${to}
      and created_at >= ${since} and created_at < ${until} and failed_at <= ${at}
    order by guid limit ${limit}`;
}

/** `offset 0` keeps the planner on the index of events: that of subscriptions would read all newer deliveries. */
const superseding = ({ since, until, at }: Window & { at: Date }) => sql`
    left join lateral (
      select n.guid from (
        select * from deliveries where event_guid = d.event_guid and guid > d.guid offset 0
      ) as n
      where n.subscription_guid = d.subscription_guid
        and (n.failed_at is null
          or n.failed_at <= ${at} and n.created_at >= ${since} and n.created_at < ${until})
      limit 1
    ) as newer on true`;
