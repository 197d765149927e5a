import { setTimeout as delay } from 'node:timers/promises';
import type { Called, Calls } from './caller.ts';
import { ask, startScript } from './children.ts';
import type { Arrivals, ReceiverMessage } from './receiver.ts';
import { OPERATOR_TOKEN, type Site } from './site.ts';
import type { Tenants } from './tenants.ts';

export type Stage = Awaited<ReturnType<typeof openStage>>;
type Load = Partial<Pick<Calls, 'atOnce' | 'eventsPerCall' | 'eventsPerSecond'>> & {
  /** Bounds the deliveries that are accepted and not received yet. */
  maxUnreceived?: number;
};

/** The usual load: batches. */
const BATCHES = { atOnce: 8, eventsPerCall: 500 };
export const SINGLE_CALLS = { atOnce: 64, eventsPerCall: 1 };

const COMPLETED = 'portico_deliveries_total{state="completed"}';
/** Reading the metrics costs the service a few milliseconds, so they are read rarely until the end is near. */
const MIN_POLL_MS = 20;
const MAX_POLL_MS = 500;

/** The receiver and the load generator that all measured systems share, each in its own process. */
export async function openStage(resources: AsyncDisposableStack) {
  const { child: receiver, ready: port } = await startScript<number>(resources, 'shared/receiver.ts');
  const { child: caller } = await startScript(resources, 'shared/caller.ts');
  const hook = `http://127.0.0.1:${port}`;
  let objects = 0;

  function call(urls: readonly string[], tenants: Tenants, events: number, load: Load = {}): Promise<Called> {
    const { maxUnreceived, ...settings } = load;
    const firstObject = objects;
    objects += events;
    const { endpointsOfEach: deliveriesPerEvent } = tenants;
    return ask<Called>(caller, {
      urls,
      token: OPERATOR_TOKEN,
      tenants: tenants.tenants,
      events,
      firstObject,
      ...BATCHES,
      ...settings,
      ...(maxUnreceived && { window: { url: hook, max: maxUnreceived, deliveriesPerEvent } }),
    } satisfies Calls);
  }

  return {
    hook,
    call,
    tell: (message: ReceiverMessage) => ask<Arrivals>(receiver, message),

    /** Returns when all events are accepted. */
    accept: (site: Site, tenants: Tenants, events: number, load?: Load) =>
      call(site.eventUrls, tenants, events, load),

    /** From the first call until every delivery is recorded as completed. */
    async deliveriesPerSecond(
      site: Site,
      tenants: Tenants,
      deliveries: number,
      load?: Load,
    ): Promise<number> {
      const before = await completed(site);
      const { startedAt } = await call(site.eventUrls, tenants, deliveries / tenants.endpointsOfEach, load);
      await untilCompleted(site, before + deliveries);
      return deliveries / secondsSince(startedAt);
    },
  };
}

export function secondsSince(startedAt: string): number {
  return Number(process.hrtime.bigint() - BigInt(startedAt)) / 1e9;
}

/** Polls more often near the end, estimated from the rate so far. */
export async function untilCompleted(site: Site, wanted: number): Promise<void> {
  const first = await completed(site);
  const startedAt = performance.now();
  for (let now = first; now < wanted; now = await completed(site)) {
    const done = now - first;
    const elapsedMs = performance.now() - startedAt;
    const expectedMs = done === 0 ? MIN_POLL_MS * 2 : ((wanted - now) / done) * elapsedMs;
    await delay(Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, expectedMs / 2)));
  }
}

export function completed(site: Site): Promise<number> {
  return site.metric(COMPLETED);
}
