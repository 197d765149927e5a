import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasPassed } from './clock.ts';

test('a time has passed after it, and when the clock was set back', () => {
  const since = Date.parse('2030-01-01T12:00:00Z');
  assert.equal(hasPassed(1_000, since, since), false);
  assert.equal(hasPassed(1_000, since, since + 999), false);
  assert.equal(hasPassed(1_000, since, since + 1_000), true);
  assert.equal(hasPassed(1_000, since, since - 1), true);
});
