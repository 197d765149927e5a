import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Receiver } from '../../../subscriptions/service.ts';
import type { Delivery } from '../../delivery.ts';
import { createHarness, receiverOf } from '../../testing/lanes-harness.ts';
import { MAX_HELD, MAX_HELD_UNPROVEN } from './memory.ts';
import { createPlaces, MAX_HANGING, MAX_IN_FLIGHT, MAX_UNANSWERED } from './places.ts';

/** Places and memory are divided so that an endpoint that answers gets its own, whatever the others do. */
type Harness = ReturnType<typeof createHarness>;

const WANTED = 40;
const HELD_WHILE_UNPROVEN = 32;

function reserveAndAdd({ lanes, deliveriesFor }: Harness, receiver: Receiver, wanted: number): number {
  const granted = lanes.reserve(receiver, wanted);
  lanes.add(receiver, deliveriesFor(receiver, granted));
  return granted;
}

/** Endpoints that have just answered so often, and answer no more. */
async function addStopping(harness: Harness, count: number, answers: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) {
    const receiver = receiverOf(`stopping-${nth}`);
    reserveAndAdd(harness, receiver, answers);
    for (let left = answers; left > 0; left -= 1) {
      harness.sending.find((entry) => entry.receiver.guid === receiver.guid)?.end('completed');
      await turn();
    }
    reserveAndAdd(harness, receiver, WANTED);
  }
}

/** Sends so many to an endpoint that answers, while nobody else does. */
async function completeAll(harness: Harness, receiver: Receiver, count: number): Promise<void> {
  let left = count;
  for (let completed = 0; completed < count; ) {
    left -= reserveAndAdd(harness, receiver, left);
    const own = harness.sending.filter((entry) => entry.receiver.guid === receiver.guid);
    assert.ok(own.length > 0, `it has a place, with ${harness.lanes.figures().inFlight} taken`);
    for (const entry of own) entry.end('completed');
    completed += own.length;
    await turn();
  }
}

test('256 endpoints that hang leave nearly all places to those that answer, from the start', () => {
  const harness = createHarness();
  for (let nth = 0; nth < 256; nth += 1)
    reserveAndAdd(harness, receiverOf(nth, { hasAnswered: false }), WANTED);
  assert.equal(harness.lanes.figures().inFlight, 256, 'one each');
});

test('1,000 endpoints that hang, before and after their timeouts, are not felt by one that answers', async () => {
  const harness = createHarness();
  const hanging = Array.from({ length: 1_000 }, (_, nth) => receiverOf(nth, { hasAnswered: false }));
  for (const receiver of hanging) reserveAndAdd(harness, receiver, WANTED);
  const healthy = receiverOf('healthy');
  await completeAll(harness, healthy, 100);
  await harness.endAll('timeout');
  assert.equal(harness.lanes.figures().inFlight, MAX_HANGING, 'the others wait for their turn');
  await completeAll(harness, healthy, 100);
  await completeAll(harness, receiverOf('new', { hasAnswered: false }), 100);
});

test('endpoints that hang take turns for their places', async () => {
  const harness = createHarness();
  const { sending, started } = harness;
  for (let nth = 0; nth < 2_000; nth += 1) reserveAndAdd(harness, receiverOf(nth, { hasAnswered: false }), 2);
  assert.equal(sending.length, MAX_UNANSWERED);
  while (new Set(started).size < 2_000) await harness.endAll('timeout');
  await harness.endAll('timeout');
  assert.ok(started.length <= 2 * 2_000, 'none had a third turn before all had their first');
});

test('many endpoints that answer and then stop at once leave places for one that goes on', async () => {
  const harness = createHarness();
  await addStopping(harness, 256, 14);
  const { inFlight } = harness.lanes.figures();
  assert.ok(inFlight <= MAX_IN_FLIGHT - 100, `${inFlight} places are taken`);
  await completeAll(harness, receiverOf('healthy'), 100);
});

test('whatever the others do, one that answers sends with every answer, and no bound is exceeded', async () => {
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
        reserveAndAdd(harness, receiverOf(nth, { hasAnswered: false }), WANTED);
      await addStopping(harness, stopping, answers);
      for (const entry of harness.sending.slice(0, timeouts)) entry.end('timeout');
      await turn();
      const { inFlight, held } = lanes.figures();
      assert.ok(inFlight <= MAX_IN_FLIGHT && held <= MAX_HELD);
      await completeAll(harness, receiverOf('healthy'), 60);
    }),
    { numRuns: 15 },
  );
});

test('memory for endpoints that fail or have not answered is bounded, however many they are', async () => {
  const harness = createHarness();
  const { lanes } = harness;
  for (let nth = 0; nth < 5_000; nth += 1)
    reserveAndAdd(harness, receiverOf(nth, { hasAnswered: false }), WANTED);
  assert.ok(lanes.figures().held <= MAX_HELD_UNPROVEN, `${lanes.figures().held} held`);
  assert.equal(lanes.reserve(receiverOf('healthy'), 5_000), 5_000);
});

test('an endpoint that keeps failing gives back the youngest of what it holds', async () => {
  const { lanes, fill, handedBack, endFirst } = createHarness();
  const receiver = receiverOf(1);
  const deliveries = fill(receiver, 100);
  for (let failures = 0; failures < 4; failures += 1) await endFirst('rejected');
  assert.deepEqual(handedBack, [], 'a few failures are a moment');
  await endFirst('rejected');
  const kept = deliveries.length - handedBack.length;
  assert.ok(kept <= HELD_WHILE_UNPROVEN + 5, `${kept} kept`);
  assert.deepEqual(handedBack, deliveries.slice(kept));
  assert.equal(lanes.reserveNew(receiver, 1), 0, 'these come first');
});

test('what is held at a stop stays until the lease gives it back', async () => {
  const { lanes, fill, handedBack, endAll } = createHarness();
  fill(receiverOf(1), 100);
  lanes.stop();
  await endAll('timeout');
  assert.deepEqual(handedBack, []);
});

test('while something waits in the database for which there was no room, nothing new overtakes it', () => {
  const { lanes } = createHarness();
  const receiver = receiverOf(1);
  const granted = lanes.reserveNew(receiver, 6_000);
  assert.ok(granted < 6_000);
  lanes.unreserve(receiver.guid, granted);
  assert.equal(lanes.reserveNew(receiver, 1), 0, 'although there is room again');
  assert.deepEqual(lanes.hungry(), [receiver.guid]);

  const room = lanes.reserve(receiver, 500);
  assert.equal(room, 500, 'the room is for what waits');
  lanes.noteClaim(receiver, { isFull: true, isBehind: true });
  assert.equal(lanes.reserveNew(receiver, 1), 0);
  lanes.reserve(receiver, 500);
  lanes.noteClaim(receiver, { isFull: true, isBehind: false });
  assert.equal(lanes.reserveNew(receiver, 1), 1, 'what is left is not due yet');
});

test('what found no room during a claim is not overtaken after a claim that did not see it', () => {
  const { lanes } = createHarness();
  const receiver = receiverOf(1);
  const claimed = lanes.reserve(receiver, 500);
  assert.ok(lanes.reserveNew(receiver, 6_000) < 6_000);
  lanes.unreserve(receiver.guid, claimed);
  lanes.noteClaim(receiver, { isFull: false, isBehind: false });
  assert.equal(lanes.reserveNew(receiver, 1), 0);
});

test('what comes due while the lane is full closes it for what is new', () => {
  const { lanes } = createHarness();
  const receiver = receiverOf(1);
  assert.equal(lanes.reserveNew(receiver, 5_000), 5_000);
  lanes.noteDue(receiver);
  lanes.unreserve(receiver.guid, 3_000);
  assert.equal(lanes.reserveNew(receiver, 1), 0);
  assert.deepEqual(lanes.hungry(), [receiver.guid]);
  assert.equal(lanes.reserve(receiver, 1), 1);
});

test('new deliveries never pass older ones of their endpoint that wait in the database', async () => {
  const step = fc.oneof(
    fc.record({ does: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 4_000 }) }),
    fc.record({ does: fc.constant('answer' as const), count: fc.integer({ min: 1, max: 400 }) }),
    fc.record({ does: fc.constant('fail' as const), count: fc.integer({ min: 1, max: 8 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const harness = createHarness();
      const { lanes, handedBack, sending } = harness;
      const receiver = receiverOf(1);
      const queue: string[] = [];
      const deliveryOf = (guid: string) => ({ guid, subscriptionGuid: receiver.guid }) as Delivery;
      let made = 0;

      /** As `claims.ts` does it for a lane that runs low, on a queue in memory. */
      function look(): void {
        for (const { guid } of handedBack.splice(0)) queue.push(guid);
        queue.sort();
        while (lanes.hungry().length > 0) {
          const room = lanes.reserve(receiver, 500);
          const claimed = queue.splice(0, room);
          const isFull = claimed.length === room;
          lanes.unreserve(receiver.guid, room - claimed.length);
          lanes.noteClaim(receiver, { isFull, isBehind: isFull });
          lanes.add(receiver, claimed.map(deliveryOf));
        }
      }

      for (const { does, count } of steps) {
        if (does === 'publish') {
          const granted = lanes.reserveNew(receiver, count);
          if (queue.length > 0) assert.equal(granted, 0, `${queue.length} older ones wait`);
          const guids = Array.from({ length: count }, (_, nth) => String(made + nth).padStart(8, '0'));
          made += count;
          queue.push(...guids.slice(granted));
          lanes.add(receiver, guids.slice(0, granted).map(deliveryOf));
          if (granted < count) lanes.announce(receiver);
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

test('places are counted by what an endpoint was when its request began', () => {
  const places = createPlaces();
  for (let nth = 0; nth < MAX_HANGING; nth += 1) places.take('hanging');
  assert.deepEqual([places.share('hanging'), places.share('unknown')], [0, 1]);
  for (let nth = MAX_HANGING; nth < MAX_UNANSWERED; nth += 1) places.take('unknown');
  assert.equal(places.share('unknown'), 0);
  assert.ok(places.share('responsive') >= 64, 'no endpoint that answers has less than it may ever want');
  while (places.free('responsive') > 0) places.take('responsive');
  assert.equal(places.inFlight(), MAX_IN_FLIGHT);
  assert.equal(places.share('responsive'), 0);
  places.giveBack('unknown');
  assert.deepEqual([places.share('responsive'), places.share('unknown'), places.share('hanging')], [1, 1, 0]);
});
