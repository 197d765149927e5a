import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { Failure } from '../../runtime/failure.ts';
import { type Call, createCallsInFlight, MANY_WAITING_LISTS, MAX_WAIT_MS } from './calls-in-flight.ts';

const standing = createFakeClock();
const time = { clock: standing, timers: standing };
const create = () => createCallsInFlight({ ...time, maxInFlight: 4, maxRunning: { list: 1, other: 2 } });
const entered = (call: Call | Failure): Call => {
  assert.ok(!(call instanceof Failure));
  return call;
};

/** Work that runs until the test ends it. */
function createWork() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const work = {
    hasBegun: false,
    hasEnded: false,
    end() {
      work.hasEnded = true;
      resolve();
    },
    run() {
      work.hasBegun = true;
      return promise;
    },
  };
  return work;
}

type Work = ReturnType<typeof createWork>;

test('a call over the limit of its Organization gets 429, and other Organizations are not affected', () => {
  const calls = create();
  const own = [1, 2, 3, 4].map(() => entered(calls.enter('a', 'other')));
  const refused = calls.enter('a', 'other') as Failure;
  assert.deepEqual([refused.code, refused.retryAfterSeconds], ['api_rate_limit_exceeded', 1]);
  entered(calls.enter('b', 'other'));
  own[0]?.close();
  entered(calls.enter('a', 'other'));
});

test('a customer gets a tenth of the limit and releases it', () => {
  const calls = createCallsInFlight({ ...time, maxInFlight: 20, maxRunning: { list: 1, other: 2 } });
  const own = [1, 2].map(() => entered(calls.enter('a', 'other', 'customer')));
  assert.equal((calls.enter('a', 'other', 'customer') as Failure).code, 'api_rate_limit_exceeded');
  const others = [calls.enter('a', 'other', 'sibling'), calls.enter('a', 'other')].map(entered);
  own[0]?.close();
  own[0]?.close();
  others.push(entered(calls.enter('a', 'other', 'customer')));
  assert.equal((calls.enter('a', 'other', 'customer') as Failure).code, 'api_rate_limit_exceeded');
  for (const call of [...own, ...others]) call.close();
  assert.equal(calls.size(), 0);
});

test('two calls of an Organization run at once, and the others follow in order', async () => {
  const calls = create();
  const works = [1, 2, 3, 4].map(createWork);
  const runs = works.map((work) => entered(calls.enter('a', 'other')).run(work.run));
  const other = createWork();
  const otherRun = entered(calls.enter('b', 'other')).run(other.run);
  await new Promise(setImmediate);
  assert.deepEqual(
    works.map((work) => work.hasBegun),
    [true, true, false, false],
  );
  assert.ok(other.hasBegun);
  works[1]?.end();
  await runs[1];
  await new Promise(setImmediate);
  assert.deepEqual(
    works.map((work) => work.hasBegun),
    [true, true, true, false],
  );
  for (const work of [...works, other]) work.end();
  await Promise.all([...runs, otherRun]);
});

test('a call with a closed connection counts until its work has ended', async () => {
  const calls = create();
  const work = createWork();
  const call = entered(calls.enter('a', 'other'));
  const run = call.run(work.run);
  call.close();
  call.close();
  const others = [1, 2, 3].map(() => entered(calls.enter('a', 'other')));
  assert.ok(calls.enter('a', 'other') instanceof Failure);
  work.end();
  await run;
  others.push(entered(calls.enter('a', 'other')));
  for (const other of others) other.close();
  assert.equal(calls.size(), 0);
});

test('a call whose connection closes while it waits does not run', async () => {
  const calls = create();
  const busy = [1, 2].map(createWork);
  const runs = busy.map((work) => entered(calls.enter('a', 'other')).run(work.run));
  const late = entered(calls.enter('a', 'other'));
  const work = createWork();
  const lateRun = late.run(work.run);
  late.close();
  for (const each of busy) each.end();
  await Promise.all(runs);
  await assert.rejects(lateRun);
  assert.ok(!work.hasBegun);
});

test('lists have slots of their own', async () => {
  const calls = create();
  const works = [1, 2, 3].map(createWork);
  const [first, second, third] = works as [Work, Work, Work];
  const runs = [first, second].map((work) => entered(calls.enter('a', 'list')).run(work.run));
  runs.push(entered(calls.enter('a', 'other')).run(third.run));
  await new Promise(setImmediate);
  assert.deepEqual([first.hasBegun, second.hasBegun, third.hasBegun], [true, false, true]);
  for (const work of works) work.end();
  await Promise.all(runs);
});

test('failed work releases its slot, and nested work needs none', async () => {
  const calls = createCallsInFlight({ ...time, maxInFlight: 4, maxRunning: { list: 1, other: 1 } });
  const call = entered(calls.enter('a', 'other'));
  await assert.rejects(call.run(() => Promise.reject(new Error('a bug'))));
  assert.equal(await call.run(() => call.run(async () => 'inside')), 'inside');
  call.close();
  assert.equal(calls.size(), 0);
});

test('work that waits for another service leaves its slot, and as many run apart as slots exist', async () => {
  const calls = createCallsInFlight({ ...time, maxInFlight: 9, maxRunning: { list: 1, other: 1 } });
  const [waiting, next, step] = [createWork(), createWork(), createWork()];
  const apart = (work: Work) => {
    const call = entered(calls.enter('a', 'other'));
    return { call, run: call.run(() => call.runApart(work.run)) };
  };
  const first = apart(waiting);
  const second = apart(next);
  const dropped = apart(createWork());
  assert.equal(await entered(calls.enter('a', 'other')).run(async () => 'other'), 'other');
  assert.deepEqual([waiting.hasBegun, next.hasBegun], [true, false]);
  dropped.call.close();
  waiting.end();
  await first.run;
  await new Promise(setImmediate);
  assert.ok(next.hasBegun);
  next.end();
  await second.run;
  await assert.rejects(dropped.run, 'its connection closed while it waited');

  const last = entered(calls.enter('a', 'other'));
  const lastRun = last.run(() => last.runApart((inSlot) => inSlot(step.run)));
  await new Promise(setImmediate);
  const blocked = createWork();
  const blockedRun = entered(calls.enter('a', 'other')).run(blocked.run);
  assert.deepEqual([step.hasBegun, blocked.hasBegun], [true, false], 'a step takes the slot of a call');
  step.end();
  blocked.end();
  await Promise.all([lastRun, blockedRun]);
});

test('with many lists waiting, lists run one at a time', async () => {
  const clock = createFakeClock();
  const calls = createCallsInFlight({
    ...{ clock, timers: clock },
    maxInFlight: 100,
    maxRunning: { list: 2, other: 2 },
  });
  const works = Array.from({ length: MANY_WAITING_LISTS + 4 }, createWork);
  const runs = works.map((work) => entered(calls.enter('a', 'list')).run(work.run));
  const running = () => works.filter(({ hasBegun, hasEnded }) => hasBegun && !hasEnded).length;
  const endNext = async () => {
    works.find(({ hasBegun, hasEnded }) => hasBegun && !hasEnded)?.end();
    await new Promise(setImmediate);
    return running();
  };
  await new Promise(setImmediate);
  assert.deepEqual([running(), await endNext(), await endNext()], [2, 1, 1]);
  const late = createWork();
  works.push(late);
  runs.push(entered(calls.enter('a', 'list')).run(late.run));
  assert.ok(!late.hasBegun, 'a list overtook waiting lists');

  clock.advance(100);
  assert.equal(await endNext(), 0, 'no pause after a list of 100 ms');
  clock.advance(99);
  await new Promise(setImmediate);
  assert.equal(running(), 0, 'a pause shorter than the list');
  clock.advance(1);
  await new Promise(setImmediate);
  assert.equal(running(), 1);

  const numbers: number[] = [];
  while (works.some(({ hasEnded }) => !hasEnded)) numbers.push(await endNext());
  assert.deepEqual(
    [numbers.slice(0, 3), numbers.slice(-3)],
    [
      [2, 2, 2],
      [2, 1, 0],
    ],
  );
  await Promise.all(runs);
});

test('a call that waits too long is rejected and leaves the queue', async () => {
  const clock = createFakeClock();
  const calls = createCallsInFlight({
    ...{ clock, timers: clock },
    maxInFlight: 4,
    maxRunning: { list: 1, other: 1 },
  });
  const [running, waiting, next] = [createWork(), createWork(), createWork()];
  const first = entered(calls.enter('a', 'list'));
  const firstRun = first.run(running.run);
  const second = entered(calls.enter('a', 'list'));
  const refused = assert.rejects(second.run(waiting.run), ({ failure }: { failure: Failure }) => {
    assert.deepEqual([failure.code, failure.retryAfterSeconds], ['overloaded', 1]);
    return true;
  });
  clock.advance(MAX_WAIT_MS);
  await refused;
  second.close();
  const third = entered(calls.enter('a', 'list'));
  const thirdRun = third.run(next.run);
  running.end();
  await firstRun;
  await new Promise(setImmediate);
  assert.deepEqual([waiting.hasBegun, next.hasBegun], [false, true]);
  next.end();
  await thirdRun;
  first.close();
  third.close();
  assert.deepEqual([calls.size(), clock.waiting()], [0, 0]);
});

test('a closed call does no more work, which would not count', async () => {
  const calls = create();
  const call = entered(calls.enter('a', 'other'));
  await call.run(async () => {});
  call.close();
  const late = createWork();
  await assert.rejects(
    call.run(late.run),
    ({ failure }: { failure: Failure }) => failure.code === 'overloaded',
  );
  assert.ok(!late.hasBegun);
});
