import { BEHAVIOURS } from '../agenda/behaviours.ts';
import { checkFair, FAIR_WITHIN_MS, healthySubscriptions } from '../checks/fairness.ts';
import type { ModelSubscription } from '../world/model.ts';
import type { World } from '../world/world.ts';
import type { Calls } from './calls.ts';
import type { createPartners } from './partners.ts';

const OUTAGE_MS = 30_000;

/** Many events for all, while one endpoint hangs or is refused connections and no node has a fault. */
export async function burst(
  world: World,
  { pause, look }: Calls,
  { postEvents }: ReturnType<typeof createPartners>,
  unhealthy: ModelSubscription,
  { node, count, plan }: { node: number; count: number; plan: 'hanging' | 'rejecting' | 'late' },
): Promise<void> {
  const { model, scheduler, endpoints } = world;
  const startedAt = scheduler.now();
  const healthy = (await look(() => healthySubscriptions(world))).filter((each) => each !== unhealthy);
  const wasHealthy = endpoints.healthySince(unhealthy.url) <= startedAt;
  if (wasHealthy) endpoints.behave(unhealthy.url, startedAt, BEHAVIOURS[plan]());
  const before = new Set(model.events.keys());
  await Promise.all(model.tenants.map((_, tenant) => postEvents(tenant, count, node + tenant)));
  await pause(FAIR_WITHIN_MS + 1);
  const posted = [...model.events.values()].filter(({ guid }) => !before.has(guid));
  checkFair(world, healthy, posted, startedAt);
  if (!wasHealthy) return;
  await world.sleep(OUTAGE_MS);
  endpoints.behave(unhealthy.url, scheduler.now(), BEHAVIOURS.healthy());
}
