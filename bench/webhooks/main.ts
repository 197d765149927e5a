import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { BareRun } from './bare-posts.ts';
import type { Arrivals } from './receiver.ts';
import { ask, type Endpoint, type Service, startScript, startService } from './service.ts';

const ENDPOINTS = 10;
const EVENTS = 40_000;
const BATCH = 500;
const CALLERS = 12;
const ROUNDS = 5;
/** Reading the metrics costs the service a few milliseconds. */
const POLL_MS = 40;
const MUST = 0.5;
const AIM = 0.75;

const PACED_PER_SECOND = 500;
const PACED_SECONDS = 10;
const MUST_P99_MS = 100;
const AIM_P50_MS = 5;
const AIM_P99_MS = 25;

/** Events accepted over HTTP, posted, signed and recorded, against a loop that only posts; then the time to arrival. */
export async function benchWebhooks(): Promise<boolean> {
  const receiver = startScript('./receiver.ts');
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
  const bare = startScript('./bare-posts.ts');
  const service = await startService();
  const hook = `http://127.0.0.1:${port}`;
  try {
    process.stdout.write(`\nwebhooks: durable deliveries/s ÷ a bare undici POST loop to the same receiver\n`);
    const endpoints: Endpoint[] = [];
    for (let n = 0; n < ENDPOINTS; n += 1) endpoints.push(await service.createEndpoint(`${hook}/`));
    const bareSeconds = (posts: number) => ask<number>(bare, { url: hook, posts } satisfies BareRun);
    await bareSeconds(EVENTS / 2);
    await deliver(service, endpoints, EVENTS / 2);
    const ratios: number[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const reference = EVENTS / (await bareSeconds(EVENTS));
      const own = EVENTS / (await deliver(service, endpoints, EVENTS));
      ratios.push(own / reference);
      const figures = `portico ${Math.round(own)}/s, bare ${Math.round(reference)}/s`;
      process.stdout.write(
        `  round ${round} of ${ROUNDS}: ${figures}, ratio ${(own / reference).toFixed(2)}\n`,
      );
    }
    const median = ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
    const verdict = median >= AIM ? 'reaches the aim' : median >= MUST ? 'enough' : 'TOO SLOW';
    process.stdout.write(`  ratio ${median.toFixed(2)} (must ${MUST}, aim ${AIM}): ${verdict}\n`);

    const timed = await service.createEndpoint(`${hook}/timed`);
    await ask<Arrivals>(receiver, 'take');
    const sent = await pace(service, timed);
    const latencies = latenciesOf(sent, await ask<Arrivals>(receiver, 'take'));
    const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
    const quick = p99 <= AIM_P99_MS && p50 <= AIM_P50_MS;
    const grade = quick ? 'reaches the aim' : p99 <= MUST_P99_MS ? 'enough' : 'TOO SLOW';
    process.stdout.write(
      `  at ${PACED_PER_SECOND} events/s, from the call to the arrival: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms ` +
        `(${latencies.length} events; must p99 ${MUST_P99_MS}, aim p50 ${AIM_P50_MS} and p99 ${AIM_P99_MS}): ${grade}\n`,
    );
    return median >= MUST && p99 <= MUST_P99_MS;
  } finally {
    await service.stop();
    bare.disconnect();
    receiver.disconnect();
  }
}

/** Seconds from the first call until every delivery is recorded as completed. */
async function deliver(service: Service, endpoints: readonly Endpoint[], events: number): Promise<number> {
  const before = await completed(service);
  const batches = Array.from({ length: events / BATCH }, (_, index) => batchFor(endpoints, index));
  const startedAt = performance.now();
  const caller = async () => {
    for (let batch = batches.pop(); batch; batch = batches.pop())
      await service.operate('POST', '/events', batch);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  while ((await completed(service)) < before + events) await delay(POLL_MS);
  return (performance.now() - startedAt) / 1_000;
}

function completed(service: Service): Promise<number> {
  return service.metric('portico_deliveries_total{state="completed"}');
}

function batchFor(endpoints: readonly Endpoint[], index: number): object {
  const events = Array.from({ length: BATCH }, (_, n) =>
    eventOf(endpoints[(index + n) % endpoints.length] as Endpoint),
  );
  return { events };
}

let objects = 0;
function eventOf({ organizationGuid, bankGuid }: Endpoint): object {
  objects += 1;
  return {
    organization_guid: organizationGuid,
    bank_guid: bankGuid,
    event_type: 'transfer.completed',
    object_guid: `0199e5a4c1b27d3e8f60${objects.toString(16).padStart(12, '0')}`,
  };
}

/** One event per call, evenly spaced; gives when each call was made. */
async function pace(service: Service, endpoint: Endpoint): Promise<Map<string, bigint>> {
  const sent = new Map<string, bigint>();
  const calls: Promise<void>[] = [];
  const total = PACED_PER_SECOND * PACED_SECONDS;
  const startedAt = performance.now();
  async function call(): Promise<void> {
    const calledAt = process.hrtime.bigint();
    const { guids } = await service.operate('POST', '/events', { events: [eventOf(endpoint)] });
    sent.set((guids as string[])[0] as string, calledAt);
  }
  while (calls.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - startedAt) / 1_000) * PACED_PER_SECOND) + 1);
    while (calls.length < due) calls.push(call());
    await delay(1);
  }
  await Promise.all(calls);
  await delay(500);
  return sent;
}

function latenciesOf(sent: ReadonlyMap<string, bigint>, arrivals: Arrivals): number[] {
  const arrived = new Map(arrivals.at);
  return [...sent].map(([guid, calledAt]) => {
    const moment = arrived.get(guid);
    if (moment === undefined) throw new Error(`event ${guid} did not arrive`);
    return Number(BigInt(moment) - calledAt) / 1e6;
  });
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;
}
