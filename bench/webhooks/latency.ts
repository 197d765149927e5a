import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Arrivals } from './receiver.ts';
import { ask, type Service, type Tenant } from './service.ts';

const PER_SECOND = 500;
const SECONDS = 10;
const LATE_ARRIVALS_MS = 500;
const MUST_P99_MS = 100;
const AIM_P50_MS = 5;
const AIM_P99_MS = 25;

/** One event per call at a fixed rate, each in its own transaction: the time from the call to the arrival. */
export async function timeToArrival(
  service: Service,
  receiver: ChildProcess,
  hook: string,
): Promise<boolean> {
  const { p50, p99 } = await measureLatency(service, receiver, hook);
  const quick = p99 <= AIM_P99_MS && p50 <= AIM_P50_MS;
  const verdict = quick ? 'aim reached' : p99 <= MUST_P99_MS ? 'enough' : 'TOO SLOW';
  const figures = `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
  const goals = `must p99 ${MUST_P99_MS}, aim p50 ${AIM_P50_MS} and p99 ${AIM_P99_MS}`;
  process.stdout.write(
    `  at ${PER_SECOND} events/s, from the call to the arrival: ${figures} (${goals}): ${verdict}\n`,
  );
  return p99 <= MUST_P99_MS;
}

export async function measureLatency(
  service: Service,
  receiver: ChildProcess,
  hook: string,
): Promise<{ p50: number; p99: number }> {
  const tenant = await service.createTenant(`${hook}/timed`, 1);
  await ask<Arrivals>(receiver, 'take');
  const sent = await pace(service, tenant);
  const latencies = latenciesOf(sent, await ask<Arrivals>(receiver, 'take'));
  return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
}

/** Returns the time of the call for each event. */
async function pace(service: Service, tenant: Tenant): Promise<Map<string, bigint>> {
  const sent = new Map<string, bigint>();
  const calls: Promise<void>[] = [];
  const total = PER_SECOND * SECONDS;
  const startedAt = performance.now();
  async function call(): Promise<void> {
    const calledAt = process.hrtime.bigint();
    const { guids } = await service.operate('POST', '/events', { events: [service.eventOf(tenant)] });
    sent.set((guids as string[])[0] as string, calledAt);
  }
  while (calls.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - startedAt) / 1_000) * PER_SECOND) + 1);
    while (calls.length < due) calls.push(call());
    await delay(1);
  }
  await Promise.all(calls);
  await delay(LATE_ARRIVALS_MS);
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
