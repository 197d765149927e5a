import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createSchedule, type FailedAttempt, RETRY_PERIOD_MS } from './schedule.ts';

/** Retry schedule (specification, Events 6; contract, section 7). */
const MAX_DELAY_MS = 600_000;
const CREATED_AT = new Date('2026-11-15T12:00:00.000Z');

/** Delay from the end of an attempt to the next one. */
function delayAfter(
  attempt: Partial<FailedAttempt>,
  { maxDelayMs = MAX_DELAY_MS, random = (): number => 0.5 } = {},
): number | undefined {
  const endedAt = attempt.endedAt ?? CREATED_AT;
  const schedule = createSchedule({ maxDelayMs, random });
  const { nextAttemptAt } = schedule({
    ...{ number: 1, createdAt: CREATED_AT, endedAt, status: 500, retryAfter: undefined },
    ...attempt,
  });
  return nextAttemptAt && nextAttemptAt.getTime() - endedAt.getTime();
}

test('delays are 2, 4 and 8 seconds, then the maximum delay', () => {
  const delays = [1, 2, 3, 4, 5, 1_000].map((number) => delayAfter({ number }));
  assert.deepEqual(delays, [2_000, 4_000, 8_000, MAX_DELAY_MS, MAX_DELAY_MS, MAX_DELAY_MS]);
});

test('only the maximum delay has jitter, of 10 % either way', () => {
  for (const [chance, expected] of [
    [0, 540_000],
    [1, 660_000],
  ] as const) {
    const random = () => chance;
    assert.deepEqual(
      [1, 2, 3, 4].map((number) => delayAfter({ number }, { random })),
      [2_000, 4_000, 8_000, expected],
    );
  }
});

test('retries end after exactly seven days', () => {
  const lastEnd = CREATED_AT.getTime() + RETRY_PERIOD_MS - 2_000;
  assert.equal(delayAfter({ endedAt: new Date(lastEnd) }), 2_000);
  assert.equal(delayAfter({ endedAt: new Date(lastEnd + 1) }), undefined);
  assert.equal(RETRY_PERIOD_MS, 604_800_000);
});

test('a delivery has about a thousand attempts in seven days, ten minutes apart on average', () => {
  const schedule = createSchedule({ maxDelayMs: MAX_DELAY_MS, random: Math.random });
  const times = [CREATED_AT];
  for (let endedAt: Date | undefined = CREATED_AT; endedAt; ) {
    const failed: Omit<FailedAttempt, 'number'> = {
      ...{ createdAt: CREATED_AT, endedAt, status: 500, retryAfter: undefined },
    };
    endedAt = schedule({ number: times.length, ...failed }).nextAttemptAt;
    if (endedAt) times.push(endedAt);
  }
  const gaps = times.slice(4).map((time, index) => time.getTime() - Number(times[index + 3]));
  const mean = gaps.reduce((sum, gap) => sum + gap) / gaps.length;
  assert.ok(Math.abs(mean - MAX_DELAY_MS) < 10_000, `${mean} ms on average`);
  assert.ok(times.length > 980 && times.length < 1_040, `${times.length} attempts`);
  assert.ok(Number(times.at(-1)) > CREATED_AT.getTime() + RETRY_PERIOD_MS - 1.1 * MAX_DELAY_MS);
});

test('Retry-After in seconds is honoured', () => {
  for (const status of [429, 503]) {
    assert.equal(delayAfter({ status, retryAfter: '30' }), 30_000);
    assert.equal(delayAfter({ status, retryAfter: ' 30 ' }), 30_000);
  }
});

test('Retry-After as an HTTP date is honoured', () => {
  const date = (offsetMs: number) => new Date(CREATED_AT.getTime() + offsetMs).toUTCString();
  assert.equal(delayAfter({ status: 503, retryAfter: date(45_000) }), 45_000);
  assert.equal(delayAfter({ status: 503, retryAfter: date(-45_000) }), 2_000, 'one that has passed');
  assert.equal(
    delayAfter({ status: 503, retryAfter: date(3_600_000) }),
    MAX_DELAY_MS,
    'one that is far away',
  );
});

test('Retry-After is a minimum: the schedule may be later', () => {
  assert.equal(delayAfter({ number: 3, status: 429, retryAfter: '5' }), 8_000);
  assert.equal(delayAfter({ number: 4, status: 429, retryAfter: '5' }), MAX_DELAY_MS);
  assert.equal(delayAfter({ status: 429, retryAfter: '0' }), 2_000);
});

test('the pause that Retry-After asks for ends before a later attempt; an invalid one asks for none', () => {
  const schedule = createSchedule({ maxDelayMs: MAX_DELAY_MS, random: () => 0.5 });
  for (const [retryAfter, pauseMs] of [
    ['5', 5_000],
    ['3600', MAX_DELAY_MS],
    ['0', undefined],
    ['soon', undefined],
  ] as const) {
    const failed = { number: 4, createdAt: CREATED_AT, endedAt: CREATED_AT, status: 503, retryAfter };
    const { pausedUntil } = schedule(failed);
    assert.equal(pausedUntil && pausedUntil.getTime() - CREATED_AT.getTime(), pauseMs, retryAfter);
  }
});

test('Retry-After is limited to the maximum delay', () => {
  for (const retryAfter of [
    '601',
    '999999999',
    '9999999999',
    '9'.repeat(500),
    'Fri, 31 Dec 9999 23:59:59 GMT',
  ])
    assert.equal(delayAfter({ status: 503, retryAfter }), MAX_DELAY_MS, retryAfter);
});

test('Retry-After of the maximum delay gets no jitter', () => {
  const random = () => 0;
  assert.equal(delayAfter({ number: 4, status: 503, retryAfter: '3600' }, { random }), MAX_DELAY_MS);
});

test('an invalid Retry-After is ignored', () => {
  const nonsense = [
    '',
    ' ',
    'soon',
    '-1',
    '-30',
    '1.5',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    '120s',
    '\u0663',
    'busy until 2099',
    '2099-01-01T00:00:00Z',
    'Soon, very soon GMT',
  ];
  for (const retryAfter of nonsense) assert.equal(delayAfter({ status: 503, retryAfter }), 2_000, retryAfter);
});

test('Retry-After of other statuses is ignored', () => {
  for (const status of [undefined, 301, 400, 404, 500, 502, 504])
    assert.equal(delayAfter({ status, retryAfter: '30' }), 2_000, String(status));
});

test('delays stay between two seconds and the maximum delay with jitter, for exactly seven days', () => {
  const retryAfter = fc.option(
    fc.oneof(
      fc.nat().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      fc.string(),
    ),
    { nil: undefined },
  );
  const attempts = fc.record({
    number: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 2_000 })),
    status: fc.constantFrom(undefined, 429, 500, 503),
    retryAfter,
    ageMs: fc.oneof(
      fc.nat({ max: RETRY_PERIOD_MS }),
      fc.integer({ min: RETRY_PERIOD_MS - 700_000, max: RETRY_PERIOD_MS + 10_000 }),
    ),
  });
  const chance = fc.double({ min: 0, max: 1, noNaN: true });
  const longest = fc.integer({ min: 10_000, max: 24 * 3_600_000 });
  fc.assert(
    fc.property(attempts, chance, longest, ({ ageMs, ...attempt }, drawn, maxDelayMs) => {
      const options = { maxDelayMs, random: () => drawn };
      const endedAt = new Date(CREATED_AT.getTime() + ageMs);
      const delayMs = delayAfter({ ...attempt, endedAt }, options);
      // The same attempt of a new delivery, which is not near the end of its period.
      const young = delayAfter({ ...attempt, endedAt, createdAt: endedAt }, options);
      assert.ok(young !== undefined && young >= 2_000 && young <= Math.round(1.1 * maxDelayMs), `${young}`);
      assert.equal(delayMs, ageMs + young <= RETRY_PERIOD_MS ? young : undefined);
    }),
    { numRuns: 500 },
  );
});
