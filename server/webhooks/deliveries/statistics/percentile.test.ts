import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Outcome } from '../delivery.ts';
import { countOutcomes, RESPONSE_TIME_BOUNDS_MS } from '../recording/counters.ts';
import { percentileMs } from './percentile.ts';

/** Histogram as the recorder counts it. */
function histogramOf(durationsMs: readonly number[]): number[] {
  const outcomes = durationsMs.map((durationMs) => ({
    ...{ delivery: { subscriptionGuid: '' }, result: 'completed', endedAt: new Date(0), durationMs },
  }));
  return countOutcomes(outcomes as unknown as Outcome[])[0]?.responseTimes ?? [];
}

test('without responses there is no percentile', () => {
  assert.equal(percentileMs([], 0.5), undefined);
  assert.equal(percentileMs([0, 0, 0], 0.99), undefined);
});

test('responses within a bucket are interpolated linearly', () => {
  // Ten between 25 and 50 ms: the fifth is in the middle, the last at the bound.
  const histogram = histogramOf(Array.from({ length: 10 }, () => 30));
  assert.equal(percentileMs(histogram, 0.5), 38);
  assert.equal(percentileMs(histogram, 1), 50);
});

test('a few slow responses change the 99th percentile and not the median', () => {
  const histogram = histogramOf([...Array.from({ length: 95 }, () => 3), 800, 800, 800, 800, 800]);
  assert.equal(percentileMs(histogram, 0.5), 3);
  assert.equal(percentileMs(histogram, 0.99), 900);
});

test('the exchange timeout bounds the last bucket', () => {
  const histogram = histogramOf([6_000, 7_000]);
  assert.equal(percentileMs(histogram, 0.5), 7_500);
  assert.equal(percentileMs(histogram, 1), 10_000);
});

test('the estimate lies in the bucket of the true value', () => {
  const duration = fc.integer({ min: 1, max: 10_000 });
  fc.assert(
    fc.property(
      fc.array(duration, { minLength: 1, maxLength: 200 }),
      fc.constantFrom(0.5, 0.99),
      (durations, share) => {
        const sorted = durations.toSorted((a, b) => a - b);
        const truth = sorted[Math.ceil(sorted.length * share) - 1] as number;
        const upper = RESPONSE_TIME_BOUNDS_MS.find((bound) => truth <= bound) ?? 10_000;
        const lower = RESPONSE_TIME_BOUNDS_MS.findLast((bound) => truth > bound) ?? 0;
        const estimate = percentileMs(histogramOf(durations), share) as number;
        assert.ok(estimate > lower && estimate <= upper, `${estimate} for ${truth}`);
      },
    ),
  );
});
