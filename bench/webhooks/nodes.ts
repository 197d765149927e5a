import type { Context, Figure } from '../runner/benchmark.ts';
import { compareRounds } from '../shared/rounds.ts';
import { type Site, startSite } from '../shared/site.ts';
import { openStage } from '../shared/stage.ts';
import { createTenants, type Tenants } from '../shared/tenants.ts';

const DELIVERIES = 40_000;

/** Two `api` and two `dispatch` processes on one PostgreSQL, compared with one `serve` on its own. */
export async function benchNodes(context: Context): Promise<Figure[]> {
  const { resources, size, progress } = context;
  const stage = await openStage(resources);
  const several = await startSite(resources, { nodes: ['api', 'api', 'dispatch', 'dispatch'] });
  const one = await startSite(resources);
  const tenantsOf = new Map<Site, Tenants>();
  for (const site of [several, one]) tenantsOf.set(site, await createTenants(site, `${stage.hook}/`));
  const rate = (site: Site) =>
    stage.deliveriesPerSecond(site, tenantsOf.get(site) as Tenants, size(DELIVERIES));
  progress('warming up');
  for (const site of [several, one]) await rate(site);
  const { ratio, ...details } = await compareRounds(context, {
    own: () => rate(several),
    reference: () => rate(one),
    names: ['2 api + 2 dispatch', 'serve'],
  });
  return [{ name: 'nodes', value: ratio, details }];
}
