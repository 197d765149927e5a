import type { World } from '../world/world.ts';

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
