import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLimit, ENOUGH_LIMIT, type Limit, START_LIMIT } from './limit.ts';

type Lesson = Parameters<Limit['learn']>[0];

const QUICK: Lesson = { result: 'completed', durationMs: 100 };
const SLOW: Lesson = { result: 'completed', durationMs: 2_001 };
const REJECTED: Lesson = { result: 'rejected', durationMs: 100 };
const TIMEOUT: Lesson = { result: 'timeout', durationMs: 30_000 };
const UNREACHABLE: Lesson = { result: 'unreachable', durationMs: 5 };

function limitAfter(...lessons: readonly Lesson[]): Limit {
  const limit = createLimit({ hasAnswered: true });
  for (const lesson of lessons) limit.learn(lesson);
  return limit;
}

const times = (count: number, lesson: Lesson) => Array.from({ length: count }, () => lesson);

test('the limit starts low, and each fast answer adds one, up to 64', () => {
  assert.equal(limitAfter().current(), START_LIMIT);
  assert.equal(limitAfter(QUICK).current(), START_LIMIT + 1);
  assert.equal(limitAfter(...times(63 - START_LIMIT, QUICK)).current(), 63);
  assert.equal(limitAfter(...times(64 - START_LIMIT, QUICK)).current(), 64);
  assert.equal(limitAfter(...times(1_000, QUICK)).current(), 64);
});

test('a timeout sets the limit to one, and it grows again', () => {
  for (const lesson of [TIMEOUT, UNREACHABLE]) {
    assert.equal(limitAfter(...times(56, QUICK), lesson).current(), 1);
    assert.equal(limitAfter(lesson, lesson, QUICK, QUICK).current(), 3);
  }
});

test('a rejection and a slow success halve the limit, down to one', () => {
  const grown = times(ENOUGH_LIMIT - START_LIMIT, QUICK);
  for (const lesson of [REJECTED, SLOW]) {
    const limits = [1, 2, 3, 4, 5, 6].map((count) => limitAfter(...grown, ...times(count, lesson)).current());
    assert.deepEqual(limits, [8, 4, 2, 1, 1, 1]);
    assert.equal(limitAfter(...grown, QUICK, lesson).current(), 8, 'seventeen halved');
  }
});

test('the limit grows up to twice the fastest answer and shrinks when answers queue', () => {
  const grown = times(26 - START_LIMIT, QUICK);
  const after = (durationMs: number) => limitAfter(...grown, { result: 'completed', durationMs }).current();
  assert.deepEqual([100, 210, 211, 450, 451, 1_999].map(after), [27, 27, 26, 26, 25, 25]);
});

test('below 16 every answer within two seconds adds one, whatever its time', () => {
  const instant: Lesson = { result: 'completed', durationMs: 1 };
  const queued: Lesson = { result: 'completed', durationMs: 1_999 };
  for (const lesson of [instant, QUICK, queued])
    assert.equal(limitAfter(instant, ...times(9, lesson)).current(), START_LIMIT + 10);
});

test('queueing alone never brings the limit below 16', () => {
  const queued: Lesson = { result: 'completed', durationMs: 1_000 };
  assert.equal(limitAfter(...times(30, QUICK), ...times(50, queued)).current(), ENOUGH_LIMIT);
});

test('an endpoint that answers within 10 ms gets 16, from above and from below', () => {
  const instant: Lesson = { result: 'completed', durationMs: 9 };
  assert.equal(limitAfter(...times(50, instant)).current(), ENOUGH_LIMIT);
  const grown = times(36 - START_LIMIT, QUICK);
  assert.equal(limitAfter(...grown, ...times(5, instant)).current(), 31);
  assert.equal(limitAfter(...grown, ...times(50, instant)).current(), ENOUGH_LIMIT);
  assert.equal(limitAfter(TIMEOUT, ...times(50, instant)).current(), ENOUGH_LIMIT);
});

test('the fastest answer is reset over time', () => {
  const steady: Lesson = { result: 'completed', durationMs: 1_000 };
  assert.equal(limitAfter(QUICK, ...times(500, steady)).current(), ENOUGH_LIMIT);
  assert.equal(limitAfter(QUICK, ...times(1_500, steady)).current(), 64);
});

test('an endpoint is failing from a failure to the next success', () => {
  assert.equal(limitAfter().isFailing(), false);
  for (const failure of [REJECTED, TIMEOUT, UNREACHABLE]) assert.ok(limitAfter(QUICK, failure).isFailing());
  for (const success of [QUICK, SLOW]) assert.ok(!limitAfter(TIMEOUT, success).isFailing());
});

test('the standing is unknown until the first exchange, unless the endpoint answered before', () => {
  assert.equal(createLimit({ hasAnswered: false }).standing(), 'unknown');
  assert.equal(createLimit({ hasAnswered: true }).standing(), 'responsive');
});

test('an endpoint is hanging after a timeout and responsive after any other exchange', () => {
  const lateReset: Lesson = { result: 'unreachable', durationMs: 2_001 };
  for (const hung of [TIMEOUT, lateReset]) assert.equal(limitAfter(QUICK, hung).standing(), 'hanging');
  for (const lesson of [QUICK, SLOW, REJECTED, UNREACHABLE])
    assert.equal(limitAfter(TIMEOUT, lesson).standing(), 'responsive');
});

test('just under two seconds is not slow', () => {
  assert.equal(limitAfter({ result: 'completed', durationMs: 1_999 }).current(), START_LIMIT + 1);
});

test('a pause follows the fifth consecutive failure of any kind', () => {
  const failures = [REJECTED, TIMEOUT, UNREACHABLE, REJECTED, TIMEOUT, REJECTED];
  const rests = failures.map((_, index) => limitAfter(...failures.slice(0, index + 1)).restMs() > 0);
  assert.deepEqual(rests, [false, false, false, false, true, true]);
});

test('any success ends the pause and resets the count', () => {
  for (const success of [QUICK, SLOW]) {
    assert.equal(limitAfter(...times(9, TIMEOUT), success).restMs(), 0);
    assert.equal(limitAfter(...times(4, TIMEOUT), success, ...times(4, TIMEOUT)).restMs(), 0);
    assert.ok(limitAfter(success, ...times(5, TIMEOUT)).restMs() > 0);
  }
});

test('the limit is always an integer from 1 to 64', () => {
  const lessons = fc.array(
    fc.record({
      result: fc.constantFrom<Lesson['result']>('completed', 'completed', 'completed', 'rejected', 'timeout'),
      durationMs: fc.oneof(fc.nat({ max: 100 }), fc.nat({ max: 30_000 })),
    }),
    { maxLength: 300 },
  );
  fc.assert(
    fc.property(lessons, (learned) => {
      const limit = limitAfter(...learned).current();
      assert.ok(Number.isInteger(limit) && limit >= 1 && limit <= 64, String(limit));
    }),
  );
});
