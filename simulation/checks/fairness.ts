import type { ModelEvent, ModelSubscription } from '../world/model.ts';
import type { World } from '../world/world.ts';

/** Invariant 8: no endpoint that answers waits longer than this for a first attempt because of another endpoint. */
export const FAIR_WITHIN_MS = 2_000;
/** An endpoint that has answered for this long uses no capacity of a past failure. */
const HEALTHY_FOR_MS = 60_000;
/** After a fault, leases expire and deliveries are taken over. */
const CALM_MS = 60_000;

type Active = { url: string };

/** Healthy, active subscriptions without a failing delivery, before a burst. */
export async function healthySubscriptions({
  side,
  model,
  endpoints,
  scheduler,
}: World): Promise<ModelSubscription[]> {
  const { rows } = await side.query<Active>(
    `select url from subscriptions as s where activated_at is not null and deliveries_failing_since is null
       and paused_at is null and disabled_at is null and failed_at is null and scheduled_deletion_at is null
       and not exists (select 1 from delivery_queue as q where q.subscription_guid = s.guid)`,
  );
  return rows.flatMap(({ url }) => {
    const isHealthy = endpoints.healthySince(url) <= scheduler.now() - HEALTHY_FOR_MS;
    return isHealthy ? (model.byUrl(url) ?? []) : [];
  });
}

/** Call `FAIR_WITHIN_MS` after the events were acknowledged. */
export function checkFair(
  { model }: World,
  subscriptions: readonly ModelSubscription[],
  events: readonly ModelEvent[],
  startedAt: number,
): void {
  if (model.lastFaultEnd() > startedAt - CALM_MS) return;
  for (const { url, organizationGuid, environment } of subscriptions)
    for (const event of events) {
      if (event.organizationGuid !== organizationGuid || event.environment !== environment) continue;
      const [first] = model.requestsOf.get(model.keyOf(url, event.guid)) ?? [];
      const waitMs = (first?.at ?? Number.POSITIVE_INFINITY) - Number(event.acknowledgedAt);
      model.check(
        waitMs <= FAIR_WITHIN_MS,
        () => `${url} waits ${Math.round(waitMs)} ms for ${event.guid} while another endpoint hangs`,
      );
    }
}
