import type { WindowKind } from '../agenda/part-actions.ts';
import type { World } from '../world/world.ts';

/** An event has the clock of its node, the end of a window that of another. */
const CLOCKS_MS = 5_000;

/** Events that a redelivery has to deliver, read before the call: each in the window, or those with a failed delivery. */
export async function eventsInWindow(
  { side, scheduler }: World,
  { guid, kind, since }: { guid: string | undefined; kind: WindowKind; since: Date },
): Promise<string[]> {
  if (kind === 'waiting') return [];
  const { rows } = await side.query<{ guid: string }>(
    kind === 'all'
      ? `select e.guid::text as guid from events as e join subscriptions as s
           on s.organization_guid = e.organization_guid and s.environment = e.environment
         where s.guid = $1 and e.created_at >= $2 and e.created_at < $3
           and (e.event_type <> 'subscription.storing' or e.object_guid = s.guid)`
      : `select distinct event_guid::text as guid from deliveries
         where subscription_guid = $1 and created_at >= $2 and created_at < $3 and failed_at < $3`,
    [guid, since, new Date(scheduler.now() - CLOCKS_MS)],
  );
  return rows.map((row) => row.guid);
}

/** Invariant 1: when a redelivery is complete, each event has a delivery of it, or one that it could leave as it was. */
export async function checkWindow(
  { side, model }: World,
  recovery: string,
  events: readonly string[],
): Promise<void> {
  const { rows } = await side.query<{ url: string; event: string }>(
    `select s.url, event.guid as event
     from subscription_recoveries as r join subscriptions as s on s.guid = r.subscription_guid,
       unnest($2::text[]) as event(guid)
     where r.guid = $1 and r.completed_at is not null and not exists (
       select 1 from deliveries as d
       where d.subscription_guid = r.subscription_guid and d.event_guid = event.guid::uuid
         and (d.requested_by = replace(r.guid::text, '-', '')
           or r.kind = 'failed' and d.failed_at is null
           or coalesce(d.completed_at, d.failed_at, 'infinity') > r.created_at - make_interval(secs => $3)))
     limit 1`,
    [recovery, events, CLOCKS_MS / 1_000],
  );
  model.check(rows.length === 0, () => `a redelivery to ${rows[0]?.url} leaves out event ${rows[0]?.event}`);
}

/** Invariant 1: a redelivery creates at most one delivery of each event in its window. */
export async function checkRedelivered({ side, model, scheduler }: World): Promise<void> {
  const { rows } = await side.query<{ url: string; event: string; count: number }>(`
    select s.url, replace(d.event_guid::text, '-', '') as event, count(*)::int as count
    from deliveries as d join subscriptions as s on s.guid = d.subscription_guid
    where d.requested_as is not null group by 1, 2`);
  for (const { url, event, count } of rows) {
    const requested = model.requestedDeliveries(url, event, scheduler.now());
    model.check(
      count <= requested,
      () => `event ${event} has ${count} redeliveries to ${url}; ${requested} were requested`,
    );
  }
}
