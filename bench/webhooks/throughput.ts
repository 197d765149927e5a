import type { Context, Figure } from '../runner/benchmark.ts';
import type { BareRun } from '../shared/bare-posts.ts';
import { ask, startScript } from '../shared/children.ts';
import { compareRounds } from '../shared/rounds.ts';
import { startSite } from '../shared/site.ts';
import { openStage } from '../shared/stage.ts';
import { createTenants, MAX_ENDPOINTS_OF_EACH } from '../shared/tenants.ts';

const DELIVERIES = 40_000;

/** Events reported in batches to ten endpoints; each event goes to one of them, then to five. */
export async function benchThroughput(context: Context): Promise<Figure[]> {
  const { resources, size, progress } = context;
  const stage = await openStage(resources);
  const { child: bare } = await startScript(resources, 'shared/bare-posts.ts');
  const site = await startSite(resources);
  const deliveries = size(DELIVERIES);
  const one = await createTenants(site, `${stage.hook}/`);
  const five = await createTenants(site, `${stage.hook}/`, { endpointsOfEach: MAX_ENDPOINTS_OF_EACH });
  const reference = async () =>
    deliveries / (await ask<number>(bare, { url: stage.hook, posts: deliveries } satisfies BareRun));
  progress('warming up');
  await reference();
  await stage.deliveriesPerSecond(site, five, deliveries);

  const figures: Figure[] = [];
  for (const [name, tenants] of [
    ['throughput one endpoint', one],
    ['throughput five endpoints', five],
  ] as const) {
    progress(name);
    const own = () => stage.deliveriesPerSecond(site, tenants, deliveries);
    const { ratio, ...details } = await compareRounds(context, { own, reference });
    figures.push({ name, value: ratio, details });
  }
  return figures;
}
