import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  countEach,
  createCounter,
  createDispatching,
  keyOf,
  type NewEvent,
  newEvents,
  sentAgain,
  stop,
  untilQueueIsEmpty,
} from '../../testing/app/dispatching.ts';
import { BOUNDED, type Running, waitFor } from '../../testing/app/serve.ts';

const BATCH = 100;
/** Several claims (of at most 500 deliveries) for each dispatcher. */
const EVENTS = 2_000;
/** Shorter than a request may take and a lease lasts. */
const MAX_HELD_MS = 8_000;
const LEASED_BY = `
  select leased_by from delivery_queue as q join deliveries as d on d.guid = q.delivery_guid
  where leased_by is not null and event_guid = any($1::uuid[]) limit 1`;

const counter = await createCounter({ after });
const dispatching = await createDispatching({ after });
const { select, dispatchers, eventsDelivered } = dispatching;
const urlOf = (path: string) => `${counter.url}${path}`;
const two = await dispatching.createEndpoint(urlOf('/a'), urlOf('/b'));
const one = await dispatching.createEndpoint(urlOf('/c'));
const a = await start();
const b = await start();
// The first event of each subscription, subscription.storing.
await untilQueueIsEmpty(dispatching, dispatching.api);

/** A running dispatcher and the name under which it leases deliveries. */
async function start(): Promise<{ running: Running; name: string }> {
  const known = new Set(await dispatchers());
  const running = dispatching.startDispatcher();
  let names: string[] = [];
  await waitFor('its name', running, async () => {
    names = (await dispatchers()).filter((name) => !known.has(name));
    return names.length > 0;
  });
  return { running, name: names[0] ?? '' };
}

/** Posts events; returns who leases them: a dispatcher that was stopped for longer than its lease has a new name. */
async function leaserOf(events: readonly NewEvent[], running: Running): Promise<string> {
  await dispatching.post(events);
  const guids = events.map(({ guid }) => guid);
  let name: string | undefined;
  await waitFor('a lease', running, async () => {
    [name] = await select<string>(LEASED_BY, guids);
    return name !== undefined;
  });
  return name ?? '';
}

/** Events of both Organizations, the expected arrivals and those so far. */
function createEvents() {
  const from = counter.arrivals.length;
  const [ofTwo = [], ofOne = []] = [two, one].map((endpoint) => newEvents(endpoint, EVENTS / 2));
  const expected = [
    ...ofTwo.flatMap(({ guid }) => [`/a ${guid}`, `/b ${guid}`]),
    ...ofOne.map(({ guid }) => `/c ${guid}`),
  ];
  const mixed = ofTwo.flatMap((event, index) => [event, ofOne[index] ?? event]);

  /**
   * Posts all. Each dispatcher holds some deliveries without a response while `then` runs. Returns those that may be sent
   * again because that took longer than a request or a lease, on a slow machine.
   */
  async function postAll(then: () => Promise<void> = async () => undefined): Promise<ReadonlySet<string>> {
    const release = counter.hold();
    const heldAt = performance.now();
    const batches = Array.from({ length: EVENTS / BATCH }, (_, index) =>
      mixed.slice(index * BATCH, (index + 1) * BATCH),
    );
    // One of them could claim everything, so each is stopped while the other claims.
    for (const [stopped, other] of [[a, b] as const, [b, a] as const]) {
      stopped.running.kill('SIGSTOP');
      try {
        other.name = await leaserOf(batches.shift() ?? [], other.running);
      } finally {
        stopped.running.kill('SIGCONT');
      }
    }
    await then();
    release();
    const isInTime = performance.now() - heldAt < MAX_HELD_MS;
    const held = isInTime ? [] : counter.arrivals.slice(from).map(keyOf);
    for (const batch of batches) await dispatching.post(batch);
    return new Set(held);
  }
  return { expected, arrivals: () => counter.arrivals.slice(from), postAll };
}

test(
  'two dispatchers share the events of an API process, and each delivery is sent once',
  BOUNDED,
  async () => {
    const { expected, arrivals, postAll } = createEvents();
    const held = await postAll();
    await waitFor('everything', dispatching.api, () => arrivals().length >= expected.length);
    await untilQueueIsEmpty(dispatching, a.running);
    const timeouts = await dispatching.timeouts();
    const counts = countEach(arrivals().map(keyOf));
    assert.deepEqual([...counts.keys()].sort(), expected.sort());
    const again = sentAgain(arrivals(), timeouts).filter((key) => !held.has(key));
    assert.deepEqual(again, [], 'sent once');
    assert.deepEqual(await eventsDelivered(false), []);
  },
);

test('after kill -9 of one of two dispatchers the other finishes everything', BOUNDED, async (t) => {
  const { expected, arrivals, postAll } = createEvents();
  let held: string[] = [];
  let leaseUntil: Date | undefined;
  const heldTooLong = await postAll(async () => {
    a.running.kill('SIGKILL');
    assert.equal((await a.running.exited).signal, 'SIGKILL');
    // Only deliveries that it held can be sent again, and not before this moment.
    held = await select<string>(
      `select substring(s.url from '/[a-c]$') || ' ' || replace(d.event_guid::text, '-', '')
       from delivery_queue as q join deliveries as d on d.guid = q.delivery_guid
       join subscriptions as s on s.guid = q.subscription_guid where q.leased_by = $1`,
      a.name,
    );
    [leaseUntil] = await select<Date>('select lease_until from dispatchers where guid = $1', a.name);
  });
  const until = leaseUntil?.getTime() ?? 0;
  assert.ok(until > 0);
  await untilQueueIsEmpty(dispatching, b.running);
  await stop(b.running);
  const timeouts = await dispatching.timeouts();

  const counts = countEach(arrivals().map(keyOf));
  assert.deepEqual([...counts.keys()].sort(), expected.sort(), 'nothing is lost');
  assert.deepEqual(await eventsDelivered(false), []);
  const early = arrivals().filter(({ at }) => at < until);
  const inFlight = new Set(held).intersection(new Set(early.map(keyOf)));
  const again = sentAgain(arrivals(), timeouts).filter((key) => !heldTooLong.has(key));
  assert.ok(again.every((key) => counts.get(key) === 2 + (timeouts.get(key) ?? 0)));
  const unexplained = again.filter((key) => !inFlight.has(key));
  assert.deepEqual(unexplained, [], 'sent again without having been in flight');
  assert.deepEqual(await dispatchers(), [], 'the dead dispatcher is removed');
  t.diagnostic(`held by the dead one: ${held.length}, in flight: ${inFlight.size}, again: ${again.length}`);
});
