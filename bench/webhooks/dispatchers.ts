import { setTimeout as delay } from 'node:timers/promises';
import type { Context, Figure } from '../runner/benchmark.ts';
import { median } from '../shared/rounds.ts';
import { type Site, startSite } from '../shared/site.ts';
import { completed, openStage, type Stage, secondsSince, untilCompleted } from '../shared/stage.ts';
import { createTenants, type Tenants } from '../shared/tenants.ts';

const COUNTS = [1, 2, 4] as const;
const ROUNDS = 3;
/** For each dispatcher, so that every run takes about as long. */
const EVENTS_OF_EACH = 8_000;
/** Each dispatcher has claimed deliveries and sent its first requests by then. */
const CLAIMED_AFTER_MS = 1_500;

/** One, two and four `dispatch` processes send a backlog to an endpoint that takes 50 ms. */
export async function benchDispatchers(context: Context): Promise<Figure[]> {
  const { resources, size, rounds, progress } = context;
  const stage = await openStage(resources);
  const site = await startSite(resources, { nodes: ['api'] });
  const first = await site.addNode('dispatch');
  const tenants = await createTenants(site, `${stage.hook}/slow`, { endpoints: 1 });
  await site.removeNode(first);

  const rates = new Map<number, number[]>(COUNTS.map((count) => [count, []]));
  const total = rounds(ROUNDS);
  for (let round = 1; round <= total; round += 1)
    for (const count of COUNTS) {
      const rate = await drain(stage, site, tenants, { count, events: size(EVENTS_OF_EACH) * count });
      rates.get(count)?.push(rate);
      progress(`round ${round} of ${total}: ${count} dispatchers ${Math.round(rate)}/s`);
    }

  const [ones = []] = rates.values();
  return ([2, 4] as const).map((count) => {
    const own = rates.get(count) ?? [];
    const ratio = median(own.map((rate, round) => rate / (ones[round] ?? Number.NaN)));
    return {
      name: `dispatchers ${count}`,
      value: ratio,
      details: { own: median(own), reference: median(ones) },
    };
  });
}

/** The endpoint holds its answers until every dispatcher is at work. */
async function drain(
  stage: Stage,
  site: Site,
  tenants: Tenants,
  { count, events }: { count: number; events: number },
): Promise<number> {
  await stage.tell('hold');
  await stage.accept(site, tenants, events);
  const dispatchers = await Promise.all(Array.from({ length: count }, () => site.addNode('dispatch')));
  await delay(CLAIMED_AFTER_MS);
  const before = await completed(site);
  const startedAt = String(process.hrtime.bigint());
  await stage.tell('release');
  await untilCompleted(site, before + events);
  const rate = events / secondsSince(startedAt);
  await Promise.all(dispatchers.map(site.removeNode));
  return rate;
}
