import type { Context, Figure } from '../runner/benchmark.ts';
import { compareRounds } from '../shared/rounds.ts';
import { startSite } from '../shared/site.ts';
import { openStage } from '../shared/stage.ts';
import { createTenants } from '../shared/tenants.ts';

const DELIVERIES = 100_000;
const WARM_UP_DELIVERIES = 40_000;
const ROUNDS = 3;
/** Far below the number that a process holds in memory, so that no delivery waits in the queue. */
const MAX_UNRECEIVED = 4_000;

/** Events accepted faster than they can be delivered, compared with a rate at which none has to wait in the queue. */
export async function benchOverload(context: Context): Promise<Figure[]> {
  const { resources, size, progress } = context;
  const stage = await openStage(resources);
  const site = await startSite(resources);
  const tenants = await createTenants(site, `${stage.hook}/`);
  const deliveries = size(DELIVERIES);
  progress('warming up');
  await stage.deliveriesPerSecond(site, tenants, size(WARM_UP_DELIVERIES));
  const { ratio, ...details } = await compareRounds(context, {
    rounds: ROUNDS,
    own: () => stage.deliveriesPerSecond(site, tenants, deliveries),
    reference: () => stage.deliveriesPerSecond(site, tenants, deliveries, { maxUnreceived: MAX_UNRECEIVED }),
    names: ['overloaded', 'held rate'],
  });
  return [{ name: 'overload', value: ratio, details }];
}
