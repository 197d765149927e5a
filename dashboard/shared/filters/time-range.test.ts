import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveTimes, timeRangeOf } from './time-range.ts';

const NOW = Date.UTC(2026, 10, 15, 12);

test('the beginning of a preset is resolved with every request', () => {
  assert.deepEqual(resolveTimes({ created_at_gte: timeRangeOf({ time: '1h' }).from }, NOW), {
    created_at_gte: '2026-11-15T11:00:00.000Z',
  });
});

test('a time in the address that is no preset is ignored', () => {
  for (const time of ['2h', 'constructor', 'toString'])
    assert.deepEqual(timeRangeOf({ time }), { from: undefined, until: undefined });
});
