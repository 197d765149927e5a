import type { Context, Figure } from '../runner/benchmark.ts';
import { startScript } from '../shared/children.ts';
import { compareRounds } from '../shared/rounds.ts';
import { startSite } from '../shared/site.ts';
import { openStage, SINGLE_CALLS } from '../shared/stage.ts';
import { createTenants } from '../shared/tenants.ts';

const EVENTS = 20_000;

/** Events reported one by one, 64 at a time: accepted, stored, delivered and recorded. */
export async function benchRelay(context: Context): Promise<Figure[]> {
  const { resources, size, progress } = context;
  const stage = await openStage(resources);
  const { ready: bareUrl } = await startScript<string>(resources, 'shared/bare-relay.ts', `${stage.hook}/`);
  const site = await startSite(resources);
  const tenants = await createTenants(site, `${stage.hook}/`);
  const events = size(EVENTS);
  const own = () => stage.deliveriesPerSecond(site, tenants, events, SINGLE_CALLS);
  const reference = async () => {
    const { startedAt, endedAt } = await stage.call([`${bareUrl}/events`], tenants, events, SINGLE_CALLS);
    return events / (Number(BigInt(endedAt) - BigInt(startedAt)) / 1e9);
  };
  progress('warming up');
  await reference();
  await own();
  const { ratio, ...details } = await compareRounds(context, { own, reference });
  return [{ name: 'relay', value: ratio, details }];
}
