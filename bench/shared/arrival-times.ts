import { setTimeout as delay } from 'node:timers/promises';
import type { Arrivals } from './receiver.ts';
import { percentile } from './rounds.ts';
import type { Stage } from './stage.ts';
import type { Tenants } from './tenants.ts';

export type Times = { p50: number; p99: number };

const ARRIVE_WITHIN_MS = 30_000;
const POLL_MS = 100;

/** One event per call at a fixed rate: the milliseconds from the call to the arrival at `/timed`. */
export async function timeArrivals(
  stage: Stage,
  urls: readonly string[],
  tenants: Tenants,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<Times> {
  await stage.tell('take arrivals');
  const events = Math.ceil(perSecond * seconds);
  const { times } = await stage.call(urls, tenants, events, { eventsPerCall: 1, eventsPerSecond: perSecond });
  const arrived = new Map(await takeAll(stage, events));
  const latencies = times.map(([object, calledAt]) => {
    const moment = arrived.get(object);
    if (moment === undefined) throw new Error(`the event of object ${object} did not arrive`);
    return Number(BigInt(moment) - BigInt(calledAt)) / 1e6;
  });
  return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
}

async function takeAll(stage: Stage, events: number): Promise<Arrivals> {
  const arrivals: Arrivals = [];
  for (const giveUpAt = Date.now() + ARRIVE_WITHIN_MS; Date.now() < giveUpAt; await delay(POLL_MS)) {
    arrivals.push(...(await stage.tell('take arrivals')));
    if (arrivals.length >= events) return arrivals;
  }
  throw new Error(`${arrivals.length} of ${events} events arrived`);
}
