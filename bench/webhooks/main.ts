import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { BareRun } from './bare-posts.ts';
import { timeToArrival } from './latency.ts';
import { ask, type Service, startScript, startService, type Tenant } from './service.ts';

const DELIVERIES = 40_000;
/** Endpoints altogether; an Organization may have five. */
const ENDPOINTS = 10;
const BATCH = 500;
const CALLERS = 8;
const ROUNDS = 5;
/** Reading the metrics costs the service a few milliseconds, so it is asked rarely until the end is near. */
const MIN_POLL_MS = 20;
const MAX_POLL_MS = 500;
const MUST = 0.5;
const AIM = 0.75;

/**
 * Events accepted over HTTP, posted, signed and recorded, against a loop that only posts to the same receiver; then
 * the time from the call to the arrival.
 */
export async function benchWebhooks(): Promise<boolean> {
  const receiver = startScript('./receiver.ts');
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
  const hook = `http://127.0.0.1:${port}`;
  const bare = startScript('./bare-posts.ts');
  const service = await startService();
  const barePerSecond = async () =>
    DELIVERIES / (await ask<number>(bare, { url: hook, posts: DELIVERIES } satisfies BareRun));
  try {
    process.stdout.write('\nwebhooks: durable deliveries/s ÷ a bare undici POST loop to the same receiver\n');
    process.stdout.write('  warming up\n');
    await barePerSecond();
    await deliveriesPerSecond(service, await createTenants(service, hook, 5));
    const single = await compare(service, await createTenants(service, hook, 1), barePerSecond);
    const fanned = await compare(service, await createTenants(service, hook, 5), barePerSecond);
    const isQuick = await timeToArrival(service, receiver, hook);
    return single >= MUST && fanned >= MUST && isQuick;
  } finally {
    await service.stop();
    bare.disconnect();
    receiver.disconnect();
  }
}

type Tenants = { tenants: readonly Tenant[]; endpointsOfEach: number };

async function createTenants(service: Service, hook: string, endpointsOfEach: number): Promise<Tenants> {
  const tenants: Tenant[] = [];
  for (let n = 0; n < ENDPOINTS / endpointsOfEach; n += 1)
    tenants.push(await service.createTenant(`${hook}/`, endpointsOfEach));
  return { tenants, endpointsOfEach };
}

/** Ours and the reference in turn, so that whatever else the machine does hits both; the median of their ratios. */
async function compare(
  service: Service,
  tenants: Tenants,
  barePerSecond: () => Promise<number>,
): Promise<number> {
  const { endpointsOfEach: each } = tenants;
  process.stdout.write(`  ${ENDPOINTS} endpoints, each event goes to ${each === 1 ? 'one' : each} of them\n`);
  const ratios: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const reference = await barePerSecond();
    const own = await deliveriesPerSecond(service, tenants);
    ratios.push(own / reference);
    const figures = `portico ${Math.round(own)}/s, bare ${Math.round(reference)}/s`;
    process.stdout.write(
      `  round ${round} of ${ROUNDS}: ${figures}, ratio ${(own / reference).toFixed(2)}\n`,
    );
  }
  const median = ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  const verdict = median >= AIM ? 'reaches the aim' : median >= MUST ? 'enough' : 'TOO SLOW';
  process.stdout.write(`  ratio ${median.toFixed(2)} (must ${MUST}, aim ${AIM}): ${verdict}\n`);
  return median;
}

/** From the first call until every delivery is recorded as completed. */
async function deliveriesPerSecond(service: Service, { tenants, endpointsOfEach }: Tenants): Promise<number> {
  const before = await completed(service);
  const calls = Array.from({ length: DELIVERIES / endpointsOfEach / BATCH }, (_, index) =>
    JSON.stringify({
      events: Array.from({ length: BATCH }, (_, n) =>
        service.eventOf(tenants[(index + n) % tenants.length] as Tenant),
      ),
    }),
  );
  const startedAt = performance.now();
  const caller = async () => {
    for (let call = calls.pop(); call; call = calls.pop()) await service.operate('POST', '/events', call);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  for (;;) {
    const done = (await completed(service)) - before;
    const elapsedMs = performance.now() - startedAt;
    if (done >= DELIVERIES) return DELIVERIES / (elapsedMs / 1_000);
    const expectedMs = done === 0 ? MAX_POLL_MS : ((DELIVERIES - done) / done) * elapsedMs;
    await delay(Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, expectedMs / 2)));
  }
}

function completed(service: Service): Promise<number> {
  return service.metric('portico_deliveries_total{state="completed"}');
}
