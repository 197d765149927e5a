import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createHarness, endpointOf } from '../../testing/lanes-harness.ts';
import { START_LIMIT } from './limit.ts';
import { MAX_IN_FLIGHT } from './slots.ts';

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

test('lanes that may send at the same time take turns', () => {
  let isLeaseValid = false;
  const { lanes, fill, started } = createHarness({ isLeaseValid: () => isLeaseValid });
  for (const name of ['a', 'b', 'c']) fill(endpointOf(name), 20);
  isLeaseValid = true;
  lanes.resume();
  const round = ['lane-a', 'lane-b', 'lane-c'];
  assert.deepEqual(started, Array.from({ length: START_LIMIT }, () => round).flat());
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

test('an outcome of an earlier url polls the queue at once: the recorder has made its retry due', async () => {
  const { lanes, fill, refillCalls, endFirst } = createHarness();
  const endpoint = endpointOf(1);
  fill(endpoint, 2);
  await endFirst('rejected');
  assert.equal(refillCalls(), 0);
  lanes.refresh([{ ...endpoint, url: 'https://partner.example/new' }]);
  await endFirst('rejected');
  assert.equal(refillCalls(), 1);
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
