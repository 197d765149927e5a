import { setTimeout as delay } from 'node:timers/promises';
import type { Context, Figure } from '../runner/benchmark.ts';
import { median } from '../shared/rounds.ts';
import { type Site, startSite } from '../shared/site.ts';
import { openStage, type Stage } from '../shared/stage.ts';
import { createTenants, MAX_ENDPOINTS_OF_EACH, type Tenants } from '../shared/tenants.ts';
import { seedHistory } from './seed.ts';

const WAITING = 1_000_000;
const SUBSCRIPTIONS = 10_000;
const HOUR_MS = 3_600_000;
const PER_SECOND = 1_000;
const EVENTS_PER_CALL = 10;
/** Of the hour; the rows of the rest are written before. */
const SECONDS = 180;
const WARM_UP_SECONDS = 60;
const SAMPLE_SECONDS = 20;

type Memory = { rss: number; heap: number };

/** The growth of the memory of one `serve`, each time with a service of its own and the same load before and after. */
export async function benchMemory(context: Context): Promise<Figure[]> {
  const stage = await openStage(context.resources);
  return [await waiting(context, stage), await subscriptions(context, stage), await anHour(context, stage)];
}

async function waiting(context: Context, stage: Stage): Promise<Figure> {
  const { size, progress } = context;
  await using opened = await open(context, stage);
  const { site, healthy, before } = opened;
  const failing = await createTenants(site, `${stage.hook}/sick`, { endpoints: 1 });
  progress(`writing ${size(WAITING)} waiting deliveries`);
  const history = { rows: size(WAITING), spanMs: HOUR_MS, isWaiting: true };
  await seedHistory(context, site, failing, history);
  return growth(context, 'memory 1 million waiting', before, await sample(context, stage, site, healthy));
}

async function subscriptions(context: Context, stage: Stage): Promise<Figure> {
  const { size, progress } = context;
  await using opened = await open(context, stage);
  const { site, healthy, before } = opened;
  progress(`creating ${size(SUBSCRIPTIONS)} subscriptions`);
  const failing = await createTenants(site, `${stage.hook}/sick`, {
    endpoints: size(SUBSCRIPTIONS),
    endpointsOfEach: MAX_ENDPOINTS_OF_EACH,
  });
  await stage.accept(site, failing, failing.tenants.length);
  return growth(context, 'memory 10,000 subscriptions', before, await sample(context, stage, site, healthy));
}

/** The rows of an hour exist; then minutes at that rate, the last third compared with the first. */
async function anHour(context: Context, stage: Stage): Promise<Figure> {
  const { size, progress } = context;
  await using opened = await open(context, stage);
  const { site, healthy } = opened;
  const rows = Math.min(context.historyRows, (PER_SECOND * HOUR_MS) / 1_000);
  progress(`writing ${rows} deliveries of an hour`);
  await seedHistory(context, site, healthy, { rows, spanMs: HOUR_MS });
  const samples = await load(stage, site, healthy, size(SECONDS));
  const third = Math.ceil(samples.length / 3);
  return growth(
    context,
    'memory an hour at 1,000/s',
    medianMemory(samples.slice(0, third)),
    medianMemory(samples.slice(-third)),
  );
}

/** A service whose heap has grown to its usual size under the load of the samples; a flood would make it larger. */
async function open(context: Context, stage: Stage) {
  const resources = context.resources.use(new AsyncDisposableStack());
  const site = await startSite(resources);
  const healthy = await createTenants(site, `${stage.hook}/`);
  context.progress('warming up');
  await load(stage, site, healthy, context.size(WARM_UP_SECONDS));
  const before = await sample(context, stage, site, healthy);
  return { site, healthy, before, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Under the same load each time: an idle process gives memory back. */
async function sample({ size }: Context, stage: Stage, site: Site, tenants: Tenants): Promise<Memory> {
  return medianMemory(await load(stage, site, tenants, size(SAMPLE_SECONDS)));
}

/** A sample each second. */
async function load(stage: Stage, site: Site, tenants: Tenants, seconds: number): Promise<Memory[]> {
  const calling = stage.accept(site, tenants, seconds * PER_SECOND, {
    eventsPerCall: EVENTS_PER_CALL,
    eventsPerSecond: PER_SECOND,
  });
  const samples: Memory[] = [];
  for (let n = 0; n < seconds; n += 1) {
    await delay(1_000);
    samples.push(await memoryOf(site));
  }
  await calling;
  return samples;
}

async function memoryOf(site: Site): Promise<Memory> {
  const [rss, heap] = [
    await site.metric('process_resident_memory_bytes'),
    await site.metric('nodejs_heap_size_used_bytes'),
  ];
  return { rss: rss / 1_000_000, heap: heap / 1_000_000 };
}

function medianMemory(samples: readonly Memory[]): Memory {
  return { rss: median(samples.map(({ rss }) => rss)), heap: median(samples.map(({ heap }) => heap)) };
}

function growth({ progress }: Context, name: Figure['name'], before: Memory, after: Memory): Figure {
  const [rss, heap] = [after.rss - before.rss, after.heap - before.heap];
  progress(`${name}: RSS ${Math.round(before.rss)} + ${Math.round(rss)} MB, heap + ${Math.round(heap)} MB`);
  return { name, value: rss, details: { rssBefore: before.rss, heap } };
}
