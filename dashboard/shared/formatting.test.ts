import assert from 'node:assert/strict';
import { test } from 'node:test';
import { averageLabel, countLabel, stepLabel, timeLabel } from './chart/labels.ts';
import { countTicks, timeTicks } from './chart/ticks.ts';
import { formatAmount } from './text/format-amount.ts';
import { formatClock, formatExactTime, formatRemaining } from './time/format-time.ts';

const HOUR_MS = 3_600_000;
const PHONE_PX = 260;
const WIDE_PX = 400;

function inZone<Result>(zone: string, run: () => Result): Result {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    return run();
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}

test('count ticks are at most 5 round integers that reach the highest count', () => {
  assert.deepEqual(countTicks(0), [0, 1]);
  assert.deepEqual(countTicks(3), [0, 1, 2, 3]);
  assert.deepEqual(countTicks(7), [0, 2, 4, 6, 8]);
  assert.deepEqual(countTicks(87), [0, 25, 50, 75, 100]);
  for (let max = 0; max < 100_000; max = Math.ceil(max * 1.07) + 1) {
    const ticks = countTicks(max);
    assert.ok(ticks.every(Number.isInteger), `${max}: ${ticks}`);
    assert.ok(ticks.length <= 5 && (ticks.at(-1) ?? 0) >= max, `${max}: ${ticks}`);
  }
  assert.deepEqual([999, 9_999, 10_000, 2_500_000].map(countLabel), ['999', '9,999', '10K', '2.5M']);
});

test('time ticks are round local times, also across daylight saving changes', () => {
  const ticks = (from: string, hours: number, px: number) =>
    timeTicks(Date.parse(from), Date.parse(from) + hours * HOUR_MS, px).map(
      (date) => `${date.getDate()}. ${date.getHours()}:${date.getMinutes()}`,
    );
  inZone('Asia/Kolkata', () => {
    assert.deepEqual(ticks('2026-11-15T06:00:00Z', 1, WIDE_PX), [
      ...['15. 11:30', '15. 11:40', '15. 11:50', '15. 12:0', '15. 12:10', '15. 12:20', '15. 12:30'],
    ]);
    assert.deepEqual(ticks('2026-11-14T12:00:00Z', 24, WIDE_PX), [
      ...['14. 20:0', '15. 0:0', '15. 4:0', '15. 8:0', '15. 12:0', '15. 16:0'],
    ]);
  });
  // Berlin leaves daylight saving time on 25 October 2026, a day of 25 hours.
  inZone('Europe/Berlin', () => {
    assert.deepEqual(ticks('2026-10-22T12:00:00Z', 7 * 24, WIDE_PX), [
      ...['23. 0:0', '24. 0:0', '25. 0:0', '26. 0:0', '27. 0:0', '28. 0:0', '29. 0:0'],
    ]);
    assert.deepEqual(ticks('2026-10-22T12:00:00Z', 7 * 24, PHONE_PX), ['24. 0:0', '26. 0:0', '28. 0:0']);
  });
});

test('midnight is labelled with the day, never 24:00', () => {
  const midnight = new Date(2026, 10, 15, 0, 0);
  assert.equal(timeLabel(midnight), 'Sun 15');
  assert.equal(timeLabel(new Date(2026, 10, 15, 0, 30)), '00:30');
  assert.equal(stepLabel(midnight.getTime(), 60), 'Sun 15, 00:00');
  assert.equal(stepLabel(new Date(2026, 10, 15, 23, 45).getTime(), 900), 'Sun 15, 23:45–00:00');
  assert.equal(averageLabel(12, 900), '0.8 per minute');
});

test('amounts use the format of their asset', () => {
  assert.equal(formatAmount(125_000, 'USD'), '$1,250.00');
  assert.equal(formatAmount(1_000, 'JPY'), '¥1,000');
  assert.equal(formatAmount(500_000, 'BTC'), '0.005 BTC');
  assert.equal(formatAmount(1_000, 'XYZ'), '1,000 units of XYZ');
  assert.equal(formatAmount('12345678901234567890', 'USD'), '$123,456,789,012,345,678.90');
  assert.equal(formatAmount('1000000000000000000001', 'ETH'), '1,000.000000000000000001 ETH');
  assert.equal(formatAmount('12345678901234567891', 'XYZ'), '12,345,678,901,234,567,891 units of XYZ');
});

test('exact times have 24 hours and name their zone', () => {
  const at = '2026-11-15T13:00:03.000Z';
  assert.match(
    formatExactTime(at),
    /^Nov 1[56], 2026, \d\d:\d\d:03 (?![AP]M)\S+ · 2026-11-15T13:00:03\.000Z$/,
  );
  assert.equal(formatClock(at, 'utc'), '13:00:03 UTC');
  assert.equal(
    inZone('Asia/Kolkata', () => formatClock(at, 'local')),
    '18:30:03',
  );
});

test('remaining times from 48 hours on are in days', () => {
  const now = Date.parse('2026-11-15T00:00:00Z');
  const inHours = (hours: number) => formatRemaining(new Date(now + hours * HOUR_MS).toISOString(), now);
  assert.deepEqual(
    [inHours(0.05), inHours(23.5), inHours(167), inHours(168)],
    ['3 min', '23 h 30 min', '6 d 23 h', '7 days'],
  );
});
