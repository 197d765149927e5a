import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createHarness, endpointOf } from '../../testing/lanes-harness.ts';
import { MAX_HELD } from './memory.ts';

const LANE_CAPACITY = 5_000;
const LANE_CAPACITY_WHILE_FAILING = 32;
const LANE_CAPACITY_WHILE_HANGING = 2;
const MAX_LANES = 10_000;
const MANY = 256;
const NOTHING = { inFlight: 0, held: 0, limited: 0 };

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
