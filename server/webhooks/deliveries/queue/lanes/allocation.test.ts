import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Endpoint } from '../../../subscriptions/service.ts';
import type { Delivery } from '../../delivery.ts';
import { createHarness, endpointOf } from '../../testing/lanes-harness.ts';
import { MAX_HELD, MAX_HELD_UNPROVEN } from './memory.ts';
import { createSlots, MAX_HANGING, MAX_IN_FLIGHT, MAX_UNANSWERED } from './slots.ts';

/** Slots and memory are divided so that other endpoints cannot starve one that answers. */
type Harness = ReturnType<typeof createHarness>;

const WANTED = 40;
const HELD_WHILE_UNPROVEN = 32;

function reserveAndAdd({ lanes, deliveriesFor }: Harness, endpoint: Endpoint, wanted: number): number {
  const granted = lanes.reserve(endpoint, wanted);
  lanes.add(endpoint, deliveriesFor(endpoint, granted));
  return granted;
}

/** Endpoints that answered `answers` times and then hang. */
async function addStopping(harness: Harness, count: number, answers: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) {
    const endpoint = endpointOf(`stopping-${nth}`);
    reserveAndAdd(harness, endpoint, answers);
    for (let left = answers; left > 0; left -= 1) {
      harness.sending.find((entry) => entry.endpoint.guid === endpoint.guid)?.end('completed');
      await turn();
    }
    reserveAndAdd(harness, endpoint, WANTED);
  }
}

/** Sends `count` deliveries to an endpoint that answers, while no other does. */
async function completeAll(harness: Harness, endpoint: Endpoint, count: number): Promise<void> {
  let left = count;
  for (let completed = 0; completed < count; ) {
    left -= reserveAndAdd(harness, endpoint, left);
    const own = harness.sending.filter((entry) => entry.endpoint.guid === endpoint.guid);
    assert.ok(own.length > 0, `it has a place, with ${harness.lanes.figures().inFlight} taken`);
    for (const entry of own) entry.end('completed');
    completed += own.length;
    await turn();
  }
}

test('256 hanging endpoints leave nearly all slots to endpoints that answer', () => {
  const harness = createHarness();
  for (let nth = 0; nth < 256; nth += 1)
    reserveAndAdd(harness, endpointOf(nth, { hasAnswered: false }), WANTED);
  assert.equal(harness.lanes.figures().inFlight, 256, 'one each');
});

test('1,000 hanging endpoints do not delay one that answers, before and after their timeouts', async () => {
  const harness = createHarness();
  const hanging = Array.from({ length: 1_000 }, (_, nth) => endpointOf(nth, { hasAnswered: false }));
  for (const endpoint of hanging) reserveAndAdd(harness, endpoint, WANTED);
  const healthy = endpointOf('healthy');
  await completeAll(harness, healthy, 100);
  await harness.endAll('timeout');
  assert.equal(harness.lanes.figures().inFlight, MAX_HANGING, 'the others wait for their turn');
  await completeAll(harness, healthy, 100);
  await completeAll(harness, endpointOf('new', { hasAnswered: false }), 100);
});

test('endpoints that hang take turns for their slots', async () => {
  const harness = createHarness();
  const { sending, started } = harness;
  for (let nth = 0; nth < 2_000; nth += 1) reserveAndAdd(harness, endpointOf(nth, { hasAnswered: false }), 2);
  assert.equal(sending.length, MAX_UNANSWERED);
  while (new Set(started).size < 2_000) await harness.endAll('timeout');
  await harness.endAll('timeout');
  assert.ok(started.length <= 2 * 2_000, 'none had a third turn before all had their first');
});

test('many endpoints that start to hang at once leave slots for one that answers', async () => {
  const harness = createHarness();
  await addStopping(harness, 256, 14);
  const { inFlight } = harness.lanes.figures();
  assert.ok(inFlight <= MAX_IN_FLIGHT - 100, `${inFlight} slots are taken`);
  await completeAll(harness, endpointOf('healthy'), 100);
});

test('an endpoint that answers keeps sending whatever others do, and no limit is exceeded', async () => {
  const neighbours = fc.record({
    unknown: fc.nat({ max: 3_000 }),
    stopping: fc.nat({ max: 60 }),
    answers: fc.nat({ max: 20 }),
    timeouts: fc.nat({ max: 2_000 }),
  });
  await fc.assert(
    fc.asyncProperty(neighbours, async ({ unknown, stopping, answers, timeouts }) => {
      const harness = createHarness();
      const { lanes } = harness;
      for (let nth = 0; nth < unknown; nth += 1)
        reserveAndAdd(harness, endpointOf(nth, { hasAnswered: false }), WANTED);
      await addStopping(harness, stopping, answers);
      for (const entry of harness.sending.slice(0, timeouts)) entry.end('timeout');
      await turn();
      const { inFlight, held } = lanes.figures();
      assert.ok(inFlight <= MAX_IN_FLIGHT && held <= MAX_HELD);
      await completeAll(harness, endpointOf('healthy'), 60);
    }),
    { numRuns: 15 },
  );
});

test('memory for failing and unknown endpoints is bounded, whatever their number', async () => {
  const harness = createHarness();
  const { lanes } = harness;
  for (let nth = 0; nth < 5_000; nth += 1)
    reserveAndAdd(harness, endpointOf(nth, { hasAnswered: false }), WANTED);
  assert.ok(lanes.figures().held <= MAX_HELD_UNPROVEN, `${lanes.figures().held} held`);
  assert.equal(lanes.reserve(endpointOf('healthy'), 5_000), 5_000);
});

test('an endpoint that keeps failing requeues its newest held deliveries', async () => {
  const { lanes, fill, requeued, endFirst } = createHarness();
  const endpoint = endpointOf(1);
  const deliveries = fill(endpoint, 100);
  for (let failures = 0; failures < 4; failures += 1) await endFirst('rejected');
  assert.deepEqual(requeued, [], 'a few failures are a moment');
  await endFirst('rejected');
  const kept = deliveries.length - requeued.length;
  assert.ok(kept <= HELD_WHILE_UNPROVEN + 5, `${kept} kept`);
  assert.deepEqual(requeued, deliveries.slice(kept));
  assert.equal(lanes.reserveNew(endpoint, 1), 0, 'these come first');
});

test('deliveries held at a stop stay until the lease releases them', async () => {
  const { lanes, fill, requeued, endAll } = createHarness();
  fill(endpointOf(1), 100);
  lanes.stop();
  await endAll('timeout');
  assert.deepEqual(requeued, []);
});

test('new deliveries do not overtake queued ones that exceeded the capacity', () => {
  const { lanes } = createHarness();
  const endpoint = endpointOf(1);
  const granted = lanes.reserveNew(endpoint, 6_000);
  assert.ok(granted < 6_000);
  lanes.unreserve(endpoint.guid, granted);
  assert.equal(lanes.reserveNew(endpoint, 1), 0, 'although there is capacity again');
  assert.deepEqual(lanes.toRefill(), [endpoint.guid]);

  const reserved = lanes.reserve(endpoint, 500);
  assert.equal(reserved, 500, 'the capacity is for queued deliveries');
  lanes.noteClaim(endpoint, { isFull: true, isBehind: true });
  assert.equal(lanes.reserveNew(endpoint, 1), 0);
  lanes.reserve(endpoint, 500);
  lanes.noteClaim(endpoint, { isFull: true, isBehind: false });
  assert.equal(lanes.reserveNew(endpoint, 1), 1, 'the remaining deliveries are not due yet');
});

test('deliveries rejected during a claim are not overtaken after it', () => {
  const { lanes } = createHarness();
  const endpoint = endpointOf(1);
  const claimed = lanes.reserve(endpoint, 500);
  assert.ok(lanes.reserveNew(endpoint, 6_000) < 6_000);
  lanes.unreserve(endpoint.guid, claimed);
  lanes.noteClaim(endpoint, { isFull: false, isBehind: false });
  assert.equal(lanes.reserveNew(endpoint, 1), 0);
});

test('deliveries that come due while the lane is full block new ones', () => {
  const { lanes } = createHarness();
  const endpoint = endpointOf(1);
  assert.equal(lanes.reserveNew(endpoint, 5_000), 5_000);
  lanes.noteDue(endpoint);
  lanes.unreserve(endpoint.guid, 3_000);
  assert.equal(lanes.reserveNew(endpoint, 1), 0);
  assert.deepEqual(lanes.toRefill(), [endpoint.guid]);
  assert.equal(lanes.reserve(endpoint, 1), 1);
});

test('new deliveries never overtake older queued ones of their endpoint', async () => {
  const step = fc.oneof(
    fc.record({ does: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 4_000 }) }),
    fc.record({ does: fc.constant('answer' as const), count: fc.integer({ min: 1, max: 400 }) }),
    fc.record({ does: fc.constant('fail' as const), count: fc.integer({ min: 1, max: 8 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const harness = createHarness();
      const { lanes, requeued, sending } = harness;
      const endpoint = endpointOf(1);
      const queue: string[] = [];
      const deliveryOf = (guid: string) => ({ guid, subscriptionGuid: endpoint.guid }) as Delivery;
      let made = 0;

      /** Claims like `claims.ts`, from a queue in memory. */
      function look(): void {
        for (const { guid } of requeued.splice(0)) queue.push(guid);
        queue.sort();
        while (lanes.toRefill().length > 0) {
          const reserved = lanes.reserve(endpoint, 500);
          const claimed = queue.splice(0, reserved);
          const isFull = claimed.length === reserved;
          lanes.unreserve(endpoint.guid, reserved - claimed.length);
          lanes.noteClaim(endpoint, { isFull, isBehind: isFull });
          lanes.add(endpoint, claimed.map(deliveryOf));
        }
      }

      for (const { does, count } of steps) {
        if (does === 'publish') {
          const granted = lanes.reserveNew(endpoint, count);
          if (queue.length > 0) assert.equal(granted, 0, `${queue.length} older ones wait`);
          const guids = Array.from({ length: count }, (_, nth) => String(made + nth).padStart(8, '0'));
          made += count;
          queue.push(...guids.slice(granted));
          lanes.add(endpoint, guids.slice(0, granted).map(deliveryOf));
          if (granted < count) lanes.announce(endpoint);
        } else
          for (let left = count; left > 0 && sending.length > 0; left -= 1) {
            await harness.endFirst(does === 'answer' ? 'completed' : 'rejected');
            harness.clock.advance(50);
          }
        look();
      }
      while (sending.length > 0) {
        await harness.endAll();
        harness.clock.advance(50);
        look();
      }
      assert.deepEqual(queue, []);
      assert.equal(lanes.figures().held, 0, 'no reservation is left');
    }),
    { numRuns: 20 },
  );
});

test('a request keeps the slot of its endpoint’s standing at the start', () => {
  const slots = createSlots();
  for (let nth = 0; nth < MAX_HANGING; nth += 1) slots.take('hanging');
  assert.deepEqual([slots.share('hanging'), slots.share('unknown')], [0, 1]);
  for (let nth = MAX_HANGING; nth < MAX_UNANSWERED; nth += 1) slots.take('unknown');
  assert.equal(slots.share('unknown'), 0);
  assert.ok(slots.share('responsive') >= 64, 'no endpoint that answers has less than it may ever want');
  while (slots.free('responsive') > 0) slots.take('responsive');
  assert.equal(slots.inFlight(), MAX_IN_FLIGHT);
  assert.equal(slots.share('responsive'), 0);
  slots.giveBack('unknown');
  assert.deepEqual([slots.share('responsive'), slots.share('unknown'), slots.share('hanging')], [1, 1, 0]);
});
