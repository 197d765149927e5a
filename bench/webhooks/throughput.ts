import { setTimeout as delay } from 'node:timers/promises';
import type { Service, Tenant } from './service.ts';

export const DELIVERIES = 40_000;
/** In total; an Organization may have five. */
export const ENDPOINTS = 10;
const BATCH = 500;
const CALLERS = 8;
/** Reading the metrics costs the service a few milliseconds, so they are read rarely until the end is near. */
const MIN_POLL_MS = 20;
const MAX_POLL_MS = 500;

export type Tenants = { tenants: readonly Tenant[]; endpointsOfEach: number };

export async function createTenants(
  service: Service,
  hook: string,
  endpointsOfEach: number,
): Promise<Tenants> {
  const tenants: Tenant[] = [];
  for (let n = 0; n < ENDPOINTS / endpointsOfEach; n += 1)
    tenants.push(await service.createTenant(`${hook}/`, endpointsOfEach));
  return { tenants, endpointsOfEach };
}

/** From the first call until every delivery is recorded as completed. */
export async function deliveriesPerSecond(service: Service, tenants: Tenants): Promise<number> {
  const before = await completed(service);
  const calls = callsFor(service, tenants, DELIVERIES / tenants.endpointsOfEach);
  const startedAt = performance.now();
  await makeAll(service, calls);
  await untilCompleted(service, before + DELIVERIES, startedAt);
  return DELIVERIES / ((performance.now() - startedAt) / 1_000);
}

/** Prepares event batches, spread over the tenants. */
export function callsFor(service: Service, { tenants }: Tenants, events: number): string[] {
  return Array.from({ length: events / BATCH }, (_, index) =>
    JSON.stringify({
      events: Array.from({ length: BATCH }, (_, n) =>
        service.eventOf(tenants[(index + n) % tenants.length] as Tenant),
      ),
    }),
  );
}

export async function makeAll(service: Service, calls: string[]): Promise<void> {
  const caller = async () => {
    for (let call = calls.pop(); call; call = calls.pop()) await service.operate('POST', '/events', call);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

/** Polls more often near the end, estimated from the rate so far. */
export async function untilCompleted(service: Service, wanted: number, startedAt: number): Promise<void> {
  const first = await completed(service);
  for (let now = first; now < wanted; now = await completed(service)) {
    const elapsedMs = performance.now() - startedAt;
    const done = now - first;
    const expectedMs = done === 0 ? MAX_POLL_MS : ((wanted - now) / done) * elapsedMs;
    await delay(Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, expectedMs / 2)));
  }
}

export function completed(service: Service): Promise<number> {
  return service.metric('portico_deliveries_total{state="completed"}');
}
