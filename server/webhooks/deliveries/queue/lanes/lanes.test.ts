import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Endpoint } from '../../../subscriptions/service.ts';
import type { Delivery } from '../../delivery.ts';
import { createHarness, endpointOf, type Result, type Sending } from '../../testing/lanes-harness.ts';
import { createLimit, type Limit, START_LIMIT } from './limit.ts';
import { MAX_HELD } from './memory.ts';
import { MAX_IN_FLIGHT } from './slots.ts';

const LANE_CAPACITY = 5_000;
const LANE_CAPACITY_WHILE_FAILING = 32;
const LANE_CAPACITY_WHILE_HANGING = 2;
const MAX_LANES = 10_000;
const MANY = 256;
const REST_MS = 50;
const FAILURES_BEFORE_REST = 5;

const NOTHING = { inFlight: 0, held: 0, limited: 0 };

test('deliveries are sent in order, up to the limit of the lane', async () => {
  const { lanes, fill, sending, endFirst } = createHarness();
  const deliveries = fill(endpointOf(1), 20);
  assert.deepEqual(
    sending.map(({ delivery }) => delivery),
    deliveries.slice(0, START_LIMIT),
  );
  assert.deepEqual(lanes.figures(), { inFlight: START_LIMIT, held: 20, limited: 0 });
  // A fast answer raises the limit: one slot is free again, and one is new.
  await endFirst();
  assert.deepEqual(
    sending.map(({ delivery }) => delivery),
    deliveries.slice(1, START_LIMIT + 2),
  );
});

test('an endpoint that does not answer gets one request at a time', async () => {
  const { lanes, fill, sending, endFirst } = createHarness();
  fill(endpointOf(1), 20);
  for (let answer = 0; answer < 8; answer++) await endFirst();
  for (let left = START_LIMIT + 8 - 1; left > 0; left--) {
    await endFirst('timeout');
    assert.equal(sending.length, left);
  }
  assert.equal(lanes.figures().limited, 1);
});

test('lanes take turns when slots are scarce, whatever their length', async () => {
  const { lanes, fill, started, sending } = createHarness();
  for (let lane = 0; lane < MAX_IN_FLIGHT; lane++) fill(endpointOf(lane), 1);
  assert.equal(lanes.figures().inFlight, MAX_IN_FLIGHT);
  started.length = 0;
  const fillers = [...sending];

  fill(endpointOf('long'), MANY);
  fill(endpointOf('middle'), 4);
  fill(endpointOf('short'), 1);
  assert.equal(started.length, 0, 'nothing beyond the bound');
  const order = () => started.map((guid) => guid.replace('lane-', ''));
  for (const filler of fillers.slice(0, 12)) {
    filler.end('completed');
    await turn();
  }
  assert.deepEqual(order(), ['long', 'middle', 'short'], 'one each, and the rest is kept for the next lanes');
  for (const entry of sending.filter(({ endpoint }) => endpoint.guid === 'lane-middle'))
    entry.end('completed');
  await turn();
  assert.deepEqual(order(), ['long', 'middle', 'short', 'middle']);
});

test('a backlog in one lane does not delay the first request of another', () => {
  const { fill, started } = createHarness();
  fill(endpointOf('long'), MANY);
  fill(endpointOf('short'), 1);
  assert.equal(started.at(-1), 'lane-short');
});

test('the capacity of a lane is 5,000, 32 while its endpoint fails, and 2 while it hangs', async () => {
  const { lanes, fill, endFirst } = createHarness();
  const endpoint = endpointOf(1);
  assert.equal(lanes.reserve(endpoint, 100_000), LANE_CAPACITY);
  assert.equal(lanes.reserve(endpoint, 1), 0);
  lanes.unreserve(endpoint.guid, LANE_CAPACITY);
  assert.deepEqual(lanes.figures(), NOTHING);

  for (const [failure, expected] of [
    ['timeout', LANE_CAPACITY_WHILE_HANGING],
    ['rejected', LANE_CAPACITY_WHILE_FAILING],
    ['unreachable', LANE_CAPACITY_WHILE_FAILING],
  ] as const) {
    fill(endpoint, 1);
    await endFirst(failure);
    assert.equal(lanes.reserve(endpoint, 100_000), expected);
    lanes.unreserve(endpoint.guid, expected);
  }
  fill(endpoint, 1);
  await endFirst();
  assert.equal(lanes.reserve(endpoint, 100_000), LANE_CAPACITY);
});

test('lanes without free memory are not refilled', () => {
  const { lanes } = createHarness();
  const unproven = (name: number) => endpointOf(name, { hasAnswered: false });
  const granted: number[] = [];
  for (let lane = 0; granted.at(-1) !== 0; lane += 1) granted.push(lanes.reserve(unproven(lane), MANY));
  for (const lane of granted.keys()) lanes.announce(unproven(lane));
  assert.deepEqual(lanes.toRefill(), []);
  lanes.unreserve('lane-0', granted[0] ?? 0);
  assert.deepEqual(new Set(lanes.toRefill()), new Set(['lane-0', `lane-${granted.length - 1}`]));
});

test('a lane beyond its reduced capacity gets no reservation', async () => {
  const { lanes, fill, endFirst } = createHarness();
  fill(endpointOf(1), MANY);
  await endFirst('rejected');
  assert.equal(lanes.reserve(endpointOf(1), 1), 0);
  assert.equal(lanes.figures().held, MANY - 1);
});

test('all lanes together hold at most 50,000 and leave capacity for the next lane', () => {
  const { lanes } = createHarness();
  let granted = 0;
  for (let lane = 0; lane < 1_000; lane++) {
    const some = lanes.reserve(endpointOf(lane), LANE_CAPACITY);
    assert.ok(some <= (MAX_HELD - granted) / 4, `${some} of ${MAX_HELD - granted} that were free`);
    if (lane < 100) assert.ok(some >= 64, `${some} for the next after ${lane} backlogs`);
    granted += some;
  }
  assert.ok(granted > MAX_HELD * 0.99 && granted <= MAX_HELD, `${granted} held`);
  assert.equal(lanes.figures().held, granted);
});

test('a lane stops sending while 500 of its outcomes are not recorded', async () => {
  const { lanes, fill, sending, recording, endAll, started } = createHarness({ recorded: 'manually' });
  fill(endpointOf(1), 600);
  while (sending.length > 0) await endAll();
  assert.equal(recording.length, 500);
  assert.equal(started.length, 500, 'the others wait, whatever the endpoint answers');
  for (const { done } of recording.splice(0, 3)) done();
  await turn();
  assert.equal(sending.length, 3);
  assert.equal(lanes.figures().held, 597);
});

test('a delivery is held until its outcome is recorded', async () => {
  const { lanes, fill, endAll, recording } = createHarness({ recorded: 'manually' });
  const [delivery] = fill(endpointOf(1), 1);
  assert.deepEqual(lanes.heldGuids(), [delivery?.guid]);
  await endAll();
  assert.deepEqual(lanes.figures(), { inFlight: 0, held: 1, limited: 0 });
  assert.deepEqual(lanes.heldGuids(), [delivery?.guid]);
  recording[0]?.done();
  await turn();
  assert.deepEqual(lanes.figures(), NOTHING);
  assert.deepEqual(lanes.heldGuids(), []);
});

test('an endpoint that keeps failing pauses after each failure without delaying others', async () => {
  const { clock, lanes, fill, sending, endFirst } = createHarness();
  const dead = endpointOf('dead');
  fill(dead, 20);
  for (let failure = 0; failure < FAILURES_BEFORE_REST; failure++) await endFirst('unreachable');
  assert.deepEqual(sending, []);
  await lanes.idle();
  clock.advance(REST_MS - 1);
  assert.deepEqual(sending, []);
  fill(endpointOf('well'), 1);
  assert.equal(sending.length, 1);
  await endFirst();
  clock.advance(1);
  assert.deepEqual(
    sending.map(({ endpoint }) => endpoint),
    [dead],
  );
});

test('the pause starts with the fifth consecutive failure and ends with a success', async () => {
  const { clock, fill, sending, endFirst } = createHarness();
  fill(endpointOf(1), 1);
  await endFirst('timeout');
  for (let failures = 2; failures <= FAILURES_BEFORE_REST; failures++) {
    fill(endpointOf(1), 1);
    assert.equal(sending.length, 1, `after ${failures - 1} failures`);
    await endFirst('timeout');
  }
  fill(endpointOf(1), 2);
  assert.equal(sending.length, 0);
  clock.advance(REST_MS);
  assert.equal(sending.length, 1);
  await endFirst();
  assert.equal(sending.length, 1, 'immediately');
});

test('waiting deliveries of an ended subscription are requeued, requests in flight continue', async () => {
  const { clock, lanes, fill, requeued, sending, endAll } = createHarness();
  for (const over of [{ delivers: false }, { endsAt: clock.now() }]) {
    requeued.length = 0;
    const endpoint = endpointOf(Object.keys(over).join());
    const deliveries = fill(endpoint, 20);
    lanes.refresh([endpointOf('unknown', over), { ...endpoint, ...over }]);
    assert.deepEqual(requeued, deliveries.slice(START_LIMIT));
    assert.equal(sending.length, START_LIMIT);
    await endAll();
    assert.deepEqual(lanes.figures(), NOTHING);
  }
});

test('a scheduled deletion takes effect at the next turn of the lane', async () => {
  const { clock, lanes, fill, requeued, sending, endFirst, endAll } = createHarness();
  const endpoint = endpointOf(1, { endsAt: new Date(clock.now().getTime() + 1_000) });
  const deliveries = fill(endpoint, 20);
  clock.advance(999);
  await endFirst();
  assert.equal(sending.length, START_LIMIT + 1);
  clock.advance(1);
  await endFirst();
  assert.deepEqual(requeued, deliveries.slice(START_LIMIT + 2));
  await endAll();
  assert.deepEqual(lanes.figures(), NOTHING);
});

test('a changed url is used from the next attempt on', async () => {
  const { lanes, fill, sending, endFirst } = createHarness();
  const endpoint = endpointOf(1);
  fill(endpoint, 20);
  lanes.refresh([{ ...endpoint, url: 'https://partner.example/new' }]);
  await endFirst();
  assert.equal(sending.at(-1)?.endpoint.url, 'https://partner.example/new');
  assert.deepEqual(lanes.waiting(), [endpoint.guid]);
});

test('a lane needs a refill when the queue has more and half of its capacity is free', async () => {
  const { lanes, fill, refillCalls, endFirst } = createHarness();
  const endpoint = endpointOf(1);
  fill(endpoint, LANE_CAPACITY);
  assert.equal(lanes.announce(endpoint), false);
  for (let held = LANE_CAPACITY - 1; held > LANE_CAPACITY / 2; held--) await endFirst();
  assert.equal(refillCalls(), 0);
  assert.deepEqual(lanes.toRefill(), []);
  await endFirst();
  assert.equal(refillCalls(), 1);
  assert.deepEqual(lanes.toRefill(), [endpoint.guid]);
  lanes.unreserve(endpoint.guid, lanes.reserve(endpoint, 1));
  lanes.noteClaim(endpoint, { isFull: false, isBehind: false });
  assert.deepEqual(lanes.toRefill(), []);
  await endFirst();
  assert.equal(refillCalls(), 1, 'nothing more is there');
  assert.equal(lanes.announce(endpoint), true);
});

test('an empty lane needs a refill as soon as the queue has more', () => {
  const { lanes } = createHarness();
  assert.equal(lanes.announce(endpointOf(1)), true);
  assert.deepEqual(lanes.toRefill(), ['lane-1']);
});

test('an announcement during a claim is kept when the claim finds less than its reservation', () => {
  const { lanes } = createHarness();
  const endpoint = endpointOf(1);
  const reserved = lanes.reserve(endpoint, 10);
  lanes.announce(endpoint);
  lanes.unreserve(endpoint.guid, reserved);
  lanes.noteClaim(endpoint, { isFull: false, isBehind: false });
  assert.deepEqual(lanes.toRefill(), [endpoint.guid]);
});

test('idle waits for requests in flight and for the deliveries that follow them', async () => {
  const { lanes, fill, endAll } = createHarness();
  await lanes.idle();
  fill(endpointOf(1), START_LIMIT + 1);
  let isIdle = 0;
  const waiters = [lanes.idle(), lanes.idle()].map((idle) =>
    idle.then(() => {
      isIdle += 1;
    }),
  );
  await turn();
  assert.equal(isIdle, 0);
  await endAll();
  assert.equal(isIdle, 0);
  await endAll();
  await Promise.all(waiters);
  assert.equal(isIdle, 2);
});

test('after stop nothing is sent or reserved, and idle waits for requests in flight only', async () => {
  const { clock, lanes, fill, deliveriesFor, sending, started, endAll } = createHarness();
  const endpoint = endpointOf(1);
  const deliveries = fill(endpoint, 20);
  assert.equal(lanes.reserve(endpoint, 1), 1);
  lanes.stop();
  const late = deliveriesFor(endpoint, 1);
  lanes.add(endpoint, late);
  assert.equal(lanes.reserve(endpoint, 1), 0);
  const idle = lanes.idle();
  assert.equal(sending.length, START_LIMIT);
  await endAll();
  await idle;
  clock.advance(10_000);
  assert.equal(started.length, START_LIMIT);
  assert.deepEqual(lanes.empty(), [...deliveries.slice(START_LIMIT), ...late]);
  assert.deepEqual(lanes.figures(), NOTHING);
});

test('an emptied lane continues with the next deliveries', async () => {
  const { lanes, fill, sending, endAll } = createHarness();
  const deliveries = fill(endpointOf(1), 20);
  assert.deepEqual(lanes.empty(), deliveries.slice(START_LIMIT));
  await endAll();
  assert.deepEqual(lanes.figures(), NOTHING);
  const next = fill(endpointOf(1), 1);
  assert.deepEqual(
    sending.map(({ delivery }) => delivery),
    next,
  );
});

test('a lane emptied while waiting for its turn gets its next turn', async () => {
  const { lanes, fill, sending, endAll } = createHarness();
  for (let lane = 0; lane < MAX_IN_FLIGHT; lane++) fill(endpointOf(lane), 1);
  const late = fill(endpointOf('late'), 1);
  assert.deepEqual(lanes.empty(), late);
  await endAll();
  assert.deepEqual(lanes.figures(), NOTHING);
  fill(endpointOf('late'), 1);
  assert.equal(sending.length, 1);
});

test('learned limits of idle endpoints are kept for up to 10,000 endpoints', async () => {
  const { lanes, fill, endFirst } = createHarness();
  fill(endpointOf('first'), 1);
  await endFirst('timeout');
  for (let lane = 1; lane < MAX_LANES; lane++) lanes.reserve(endpointOf(lane), 0);
  assert.equal(lanes.figures().limited, 1);
  lanes.reserve(endpointOf('one too many'), 0);
  assert.equal(lanes.figures().limited, 0);
});

test('a lane that holds deliveries is never evicted', async () => {
  const { lanes, fill, endFirst, sending } = createHarness();
  fill(endpointOf('first'), 1);
  for (let lane = 1; lane < MAX_LANES + 100; lane++) lanes.reserve(endpointOf(lane), 0);
  assert.equal(lanes.heldGuids().length, 1);
  await endFirst();
  assert.equal(sending.length, 0);
  assert.deepEqual(lanes.figures(), NOTHING);
});

/** Commands of the model. Numbers are taken modulo the number of choices. */
const LANES = 4;
const lane = fc.nat({ max: LANES - 1 });
const chosen = fc.nat({ max: 1_000 });
const results = fc.constantFrom<Result>('completed', 'completed', 'rejected', 'timeout', 'unreachable');
const operations = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ does: fc.constant('reserve'), lane, count: fc.nat({ max: 60 }) }) },
    { weight: 8, arbitrary: fc.record({ does: fc.constant('add'), lane, count: fc.nat({ max: 60 }) }) },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('unreserve'), lane, count: fc.nat({ max: 60 }) }) },
    {
      weight: 12,
      arbitrary: fc.record({
        does: fc.constant('end'),
        chosen,
        result: results,
        durationMs: fc.constantFrom(1, 2_500),
      }),
    },
    { weight: 8, arbitrary: fc.record({ does: fc.constant('recorded'), chosen }) },
    { weight: 3, arbitrary: fc.record({ does: fc.constant('refresh'), lane, over: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('announce'), lane }) },
    { weight: 3, arbitrary: fc.record({ does: fc.constant('wait'), ms: fc.nat({ max: 60 }) }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('empty') }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('stop') }) },
  ),
  { minLength: 1, maxLength: 80 },
);

type Status = 'waiting' | 'in flight' | 'to be recorded' | 'recorded' | 'requeued' | 'removed';

/** Model of the lanes in plain counts. */
function createModel(harness: ReturnType<typeof createHarness>) {
  const { lanes, clock, sending, recording, requeued, deliveriesFor } = harness;
  const endpoints = Array.from({ length: LANES }, (_, index) =>
    endpointOf(index, { hasAnswered: index > 0 }),
  );
  const limits: Limit[] = endpoints.map((endpoint) => createLimit(endpoint));
  const restsUntil = endpoints.map(() => 0);
  const reserved = endpoints.map(() => 0);
  const fates = new Map<Delivery, Status>();
  const seen = new Set<Sending>();
  let stopped = false;
  let handedBackSeen = 0;

  const laneOf = ({ subscriptionGuid }: Delivery) => Number(subscriptionGuid.replace('lane-', ''));
  const count = (fate: Status, of?: number) =>
    [...fates].filter(([delivery, is]) => is === fate && (of === undefined || laneOf(delivery) === of))
      .length;

  function move(delivery: Delivery, from: Status, to: Status): void {
    assert.equal(fates.get(delivery), from, `${delivery.guid} becomes ${to}`);
    fates.set(delivery, to);
  }

  /** Updates the model with the actions of the lanes and compares. */
  function compare(): void {
    for (const entry of sending)
      if (!seen.has(entry)) {
        seen.add(entry);
        assert.ok(!stopped, 'nothing is sent after stop');
        assert.ok(entry.endpoint.delivers, 'nothing is sent to a endpoint that is over');
        move(entry.delivery, 'waiting', 'in flight');
      }
    for (const delivery of requeued.slice(handedBackSeen)) move(delivery, 'waiting', 'requeued');
    handedBackSeen = requeued.length;

    const { inFlight, held } = lanes.figures();
    const isLeaseValid = [...fates].filter(([, is]) =>
      ['waiting', 'in flight', 'to be recorded'].includes(is),
    );
    assert.equal(inFlight, count('in flight'));
    assert.equal(held, reserved.reduce((sum, each) => sum + each, 0) + isLeaseValid.length);
    assert.deepEqual(lanes.heldGuids().sort(), isLeaseValid.map(([{ guid }]) => guid).sort());
    endpoints.forEach((_, index) => {
      const mayGoOn =
        !stopped && count('waiting', index) > 0 && (restsUntil[index] ?? 0) <= clock.now().getTime();
      const limit = limits[index] as Limit;
      const wanted = limit.standing() === 'responsive' ? limit.current() : 1;
      if (mayGoOn) assert.ok(count('in flight', index) >= wanted, 'no lane waits');
    });
  }

  return {
    compare,
    isStopped: () => stopped,
    reserve(index: number, wanted: number): void {
      const endpoint = endpoints[index] as Endpoint;
      const granted = lanes.reserve(endpoint, wanted);
      const holds = ['waiting', 'in flight', 'to be recorded'] as const;
      const before = holds.reduce((sum, fate) => sum + count(fate, index), reserved[index] ?? 0);
      const limit = limits[index] as Limit;
      const isUnproven = limit.isFailing() || limit.standing() === 'unknown';
      const answersSoon = limit.standing() === 'responsive';
      const capacity = !answersSoon
        ? LANE_CAPACITY_WHILE_HANGING
        : isUnproven
          ? LANE_CAPACITY_WHILE_FAILING
          : LANE_CAPACITY;
      const free = Math.max(0, capacity - before);
      assert.equal(granted, stopped ? 0 : Math.min(wanted, free));
      reserved[index] = (reserved[index] ?? 0) + granted;
    },
    add(index: number, wanted: number): void {
      const endpoint = endpoints[index] as Endpoint;
      const added = deliveriesFor(endpoint, Math.min(wanted, reserved[index] ?? 0));
      reserved[index] = (reserved[index] ?? 0) - added.length;
      for (const delivery of added) fates.set(delivery, 'waiting');
      lanes.add(endpoint, added);
    },
    unreserve(index: number, wanted: number): void {
      const unused = Math.min(wanted, reserved[index] ?? 0);
      reserved[index] = (reserved[index] ?? 0) - unused;
      lanes.unreserve(endpoints[index]?.guid ?? '', unused);
    },
    end(which: number, result: Result, durationMs: number): void {
      const entry = sending[which % Math.max(1, sending.length)];
      if (!entry) return;
      const index = laneOf(entry.delivery);
      limits[index]?.learn({ result, durationMs });
      const restMs = limits[index]?.restMs() ?? 0;
      if (restMs > 0) restsUntil[index] = clock.now().getTime() + restMs;
      entry.end(result, durationMs);
      move(entry.delivery, 'in flight', 'to be recorded');
    },
    recorded(which: number): void {
      const entry = recording[which % Math.max(1, recording.length)];
      if (!entry) return;
      entry.done();
      move(entry.outcome.delivery, 'to be recorded', 'recorded');
    },
    refresh(index: number, over: boolean): void {
      const endpoint = endpointOf(index, { delivers: !over, hasAnswered: index > 0 });
      endpoints[index] = endpoint;
      lanes.refresh([endpoint]);
    },
    announce(index: number): void {
      lanes.announce(endpoints[index] as Endpoint);
    },
    empty(): void {
      for (const delivery of lanes.empty()) move(delivery, 'waiting', 'removed');
    },
    stop(): void {
      stopped = true;
      lanes.stop();
    },
    unreserveAll(): void {
      reserved.forEach((unused, index) => {
        reserved[index] = 0;
        lanes.unreserve(endpoints[index]?.guid ?? '', unused);
      });
    },
    isOver: () => [...fates.values()].every((is) => ['recorded', 'requeued', 'removed'].includes(is)),
  };
}

test('each delivery is sent, requeued or removed exactly once, and the counts agree', async () => {
  await fc.assert(
    fc.asyncProperty(operations, async (sequence) => {
      const harness = createHarness({ recorded: 'manually' });
      const model = createModel(harness);
      for (const operation of sequence) {
        if (operation.does === 'reserve') model.reserve(operation.lane, operation.count);
        else if (operation.does === 'add') model.add(operation.lane, operation.count);
        else if (operation.does === 'unreserve') model.unreserve(operation.lane, operation.count);
        else if (operation.does === 'end')
          model.end(operation.chosen, operation.result, operation.durationMs);
        else if (operation.does === 'recorded') model.recorded(operation.chosen);
        else if (operation.does === 'refresh') model.refresh(operation.lane, operation.over);
        else if (operation.does === 'announce') model.announce(operation.lane);
        else if (operation.does === 'wait') harness.clock.advance(operation.ms);
        else if (operation.does === 'empty') model.empty();
        else model.stop();
        await turn();
        model.compare();
      }
      // Everything ends without further commands.
      model.unreserveAll();
      if (model.isStopped()) model.empty();
      for (let polling = 0; !model.isOver() && polling < 10_000; polling++) {
        while (harness.sending.length > 0) model.end(0, 'completed', 1);
        while (harness.recording.length > 0) model.recorded(0);
        harness.clock.advance(REST_MS);
        await turn();
        model.compare();
      }
      assert.ok(model.isOver(), 'nothing is left behind');
      await harness.lanes.idle();
      const { inFlight, held } = harness.lanes.figures();
      assert.deepEqual({ inFlight, held }, { inFlight: 0, held: 0 });
    }),
    { numRuns: 150 },
  );
});

test('no lane starts a request beyond its limit', async () => {
  const steps = fc.array(fc.tuple(chosen, results, fc.constantFrom(1, 2_500)), { maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(steps, async (outcomes) => {
      const { clock, fill, sending, started } = createHarness();
      const limit = createLimit({ hasAnswered: true });
      fill(endpointOf(1), MANY);
      for (const [which, result, durationMs] of outcomes) {
        const before = started.length;
        limit.learn({ result, durationMs });
        sending[which % Math.max(1, sending.length)]?.end(result, durationMs);
        await turn();
        clock.advance(REST_MS);
        if (started.length > before) assert.ok(sending.length <= limit.current());
        if (sending.length === 0) break;
      }
    }),
    { numRuns: 60 },
  );
});
