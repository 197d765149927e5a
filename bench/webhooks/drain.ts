import { setTimeout as delay } from 'node:timers/promises';
import type { Context, Figure } from '../runner/benchmark.ts';
import { compareRounds } from '../shared/rounds.ts';
import { startSite } from '../shared/site.ts';
import { completed, openStage, secondsSince, untilCompleted } from '../shared/stage.ts';
import { createTenants } from '../shared/tenants.ts';

const WAITING = 100_000;
const NEW = 40_000;
const ROUNDS = 3;
const RECOVERY_POLL_MS = 20;

/** Deliveries that wait for an endpoint, from its first success to the last, compared with new events. */
export async function benchDrain(context: Context): Promise<Figure[]> {
  const { resources, size, progress } = context;
  const stage = await openStage(resources);
  const site = await startSite(resources);
  const healthy = await createTenants(site, `${stage.hook}/`);
  const failing = await createTenants(site, `${stage.hook}/sick`, { endpoints: 1 });
  const waiting = size(WAITING);
  const reference = () => stage.deliveriesPerSecond(site, healthy, size(NEW));

  async function drain(): Promise<number> {
    await stage.tell('fail');
    await stage.accept(site, failing, waiting);
    progress(`${waiting} wait`);
    const before = await completed(site);
    await stage.tell('recover');
    while ((await completed(site)) === before) await delay(RECOVERY_POLL_MS);
    const startedAt = String(process.hrtime.bigint());
    await untilCompleted(site, before + waiting);
    return waiting / secondsSince(startedAt);
  }

  progress('warming up');
  await reference();
  const names = ['drained', 'new'] as const;
  const { ratio, ...details } = await compareRounds(context, {
    rounds: ROUNDS,
    own: drain,
    reference,
    names,
  });
  return [{ name: 'drain', value: ratio, details }];
}
