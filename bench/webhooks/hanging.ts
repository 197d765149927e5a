import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context, Figure } from '../runner/benchmark.ts';
import type { FigureName } from '../runner/targets.ts';
import { timeArrivals } from '../shared/arrival-times.ts';
import { compareRounds } from '../shared/rounds.ts';
import { type Site, startSite } from '../shared/site.ts';
import { openStage, type Stage } from '../shared/stage.ts';
import { createTenants, MAX_ENDPOINTS_OF_EACH, type Tenants } from '../shared/tenants.ts';

const DELIVERIES = 40_000;
const WAITING = 100_000;
const HANGING = 1_000;
const EVENTS_FOR_HANGING = 8_000;
/** For an endpoint that hangs and one that refuses connections: more than their lanes hold. */
const STUCK = 10_000;
const LATENCY = { perSecond: 500, seconds: 5 };
/** Smaller differences are noise of the machine and count as none. */
const UNFELT_MS = 10;
/** Requests to hanging endpoints are in flight by then and have not timed out yet. */
const UNDER_WAY_AFTER_MS = 1_000;

type Side = { site: Site; healthy: Tenants; timed: Tenants };

/** The effect of failing endpoints on healthy ones: a service with failing endpoints and one without, alternately. */
export async function benchHanging(context: Context): Promise<Figure[]> {
  const { resources, size, progress } = context;
  const stage = await openStage(resources);
  const { hook } = stage;
  const alone = await open(resources, hook);
  const beside = await open(resources, hook);
  const rate = ({ site, healthy }: Side) => stage.deliveriesPerSecond(site, healthy, size(DELIVERIES));
  const names = ['beside', 'alone'] as const;

  async function compare(name: FigureName): Promise<Figure> {
    progress(name);
    const sides = { own: () => rate(beside), reference: () => rate(alone) };
    const { ratio, ...details } = await compareRounds(context, { ...sides, names });
    return { name, value: ratio, details };
  }

  progress('warming up');
  for (const side of [alone, beside]) await rate(side);
  const figures: Figure[] = [];
  const stuck = await createTenants(beside.site, `${hook}/hang`, { endpoints: 1 });
  await stage.accept(beside.site, stuck, size(STUCK));
  await fillRefused(stage, beside.site, size(STUCK));
  figures.push(await compare('hanging two failing'));
  figures.push(await compareLatency(context, stage, alone, beside));

  const failing = await createTenants(beside.site, `${hook}/sick`, { endpoints: 1 });
  await stage.accept(beside.site, failing, size(WAITING));
  figures.push(await compare('hanging 100,000 waiting'));

  const hanging = await createTenants(beside.site, `${hook}/hang`, {
    endpoints: size(HANGING),
    endpointsOfEach: MAX_ENDPOINTS_OF_EACH,
  });
  await stage.accept(beside.site, hanging, size(EVENTS_FOR_HANGING));
  figures.push(await compare('hanging 1,000 endpoints'));
  await beside.site.restart();
  await delay(UNDER_WAY_AFTER_MS);
  await rate(beside);
  figures.push(await compare('hanging 1,000 after restart'));
  return figures;
}

async function open(resources: AsyncDisposableStack, hook: string): Promise<Side> {
  const site = await startSite(resources);
  const healthy = await createTenants(site, `${hook}/`);
  return { site, healthy, timed: await createTenants(site, `${hook}/timed`, { endpoints: 1 }) };
}

async function compareLatency(context: Context, stage: Stage, alone: Side, beside: Side): Promise<Figure> {
  const p99 = async ({ site, timed }: Side) =>
    (await timeArrivals(stage, site.eventUrls, timed, LATENCY)).p99;
  const { ratio, ...details } = await compareRounds(context, {
    own: () => p99(beside),
    reference: () => p99(alone),
    names: ['p99 beside', 'alone'],
    unit: ' ms',
  });
  const isUnfelt = details.own - details.reference <= UNFELT_MS;
  return { name: 'hanging two failing p99', value: isUnfelt ? Math.min(1, ratio) : ratio, details };
}

/** An endpoint that answers its first event and then closes its port. */
async function fillRefused(stage: Stage, site: Site, events: number): Promise<void> {
  const server = createServer((_, response) => void response.end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const tenants = await createTenants(site, `http://127.0.0.1:${port}/`, { endpoints: 1 });
  server.close();
  server.closeAllConnections();
  await stage.accept(site, tenants, events);
}
