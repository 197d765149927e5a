import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Tenant } from './tenants.ts';

/** Child process of the benchmarks: the load generator. Reports events over HTTP and returns when it did. */
export type Calls = {
  /** Called in turn. */
  urls: readonly string[];
  token: string;
  /** Events are spread over them. */
  tenants: readonly Tenant[];
  events: number;
  eventsPerCall: number;
  /** Calls in flight. Ignored at a fixed rate, so that queueing is measured too. */
  atOnce: number;
  eventsPerSecond?: number;
  /** Waits while more deliveries than `max` are not received yet; `url` returns the number received. */
  window?: { url: string; max: number; deliveriesPerEvent: number };
  /** Each event has an object of its own, numbered from here. */
  firstObject: number;
};
export type Called = {
  /** On the machine's monotonic clock, in nanoseconds. */
  startedAt: string;
  endedAt: string;
  /** The time of the call for each event, at a fixed rate. */
  times: [objectGuid: string, nanoseconds: string][];
};

const CONNECTIONS = 64;
const WINDOW_POLL_MS = 5;

type Call = { objects: string[]; body: string };

process.on('message', async (calls: Calls) => {
  const pools = calls.urls.map((url) => {
    const { origin, pathname } = new URL(url);
    return { path: pathname, pool: new Pool(origin, { connections: CONNECTIONS }) };
  });
  const prepared = prepare(calls);
  const times: Called['times'] = [];
  let turn = 0;

  async function make({ objects, body }: Call): Promise<void> {
    const { path, pool } = pools[turn++ % pools.length] as (typeof pools)[number];
    if (calls.eventsPerSecond !== undefined) {
      const calledAt = String(process.hrtime.bigint());
      for (const object of objects) times.push([object, calledAt]);
    }
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${calls.token}` };
    const response = await pool.request({ method: 'POST', path, headers, body });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`POST ${path}: ${response.statusCode} ${text}`);
  }

  const startedAt = String(process.hrtime.bigint());
  if (calls.eventsPerSecond === undefined) await makeAll(prepared, calls, make);
  else await pace(prepared, calls.eventsPerSecond / calls.eventsPerCall, make);
  const endedAt = String(process.hrtime.bigint());
  await Promise.all(pools.map(({ pool }) => pool.close()));
  process.send?.({ startedAt, endedAt, times } satisfies Called);
});
process.on('disconnect', () => process.exit());
process.send?.('ready');

function prepare({ tenants, events, eventsPerCall, firstObject }: Calls): Call[] {
  return Array.from({ length: Math.ceil(events / eventsPerCall) }, (_, call) => {
    const before = call * eventsPerCall;
    const objects = Array.from({ length: Math.min(eventsPerCall, events - before) }, (_, n) =>
      objectGuidOf(firstObject + before + n),
    );
    const reported = objects.map((object_guid, n) => {
      const { organizationGuid, bankGuid } = tenants[(call + n) % tenants.length] as Tenant;
      return {
        organization_guid: organizationGuid,
        bank_guid: bankGuid,
        event_type: 'transfer.completed',
        object_guid,
      };
    });
    return { objects, body: JSON.stringify({ events: reported }) };
  });
}

function objectGuidOf(number: number): string {
  return `0199e5a4c1b27d3e8f60${number.toString(16).padStart(12, '0')}`;
}

async function makeAll(
  prepared: readonly Call[],
  { atOnce, window }: Calls,
  make: (call: Call) => Promise<void>,
): Promise<void> {
  const waiting = prepared.values();
  const received = async () => (window ? Number(await (await fetch(window.url)).text()) : 0);
  const before = await received();
  let expected = 0;
  const caller = async () => {
    for (const call of waiting) {
      while (window && expected - (await received()) + before > window.max) await delay(WINDOW_POLL_MS);
      expected += call.objects.length * (window?.deliveriesPerEvent ?? 0);
      await make(call);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
}

async function pace(
  prepared: readonly Call[],
  callsPerSecond: number,
  make: (call: Call) => Promise<void>,
): Promise<void> {
  const made: Promise<void>[] = [];
  const startedAt = performance.now();
  while (made.length < prepared.length) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * callsPerSecond) + 1;
    for (const call of prepared.slice(made.length, due)) made.push(make(call));
    await delay(1);
  }
  await Promise.all(made);
}
