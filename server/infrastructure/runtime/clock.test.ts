import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../testing/fake-clock.ts';
import { systemClock } from './clock.ts';

test('the system clock returns the current time', () => {
  const before = Date.now();
  const now = systemClock.now().getTime();
  assert.ok(before <= now && now <= Date.now());
});

test('the fake clock stands still until it is advanced, and returns copies of its date', () => {
  const clock = createFakeClock(new Date(1_000));
  clock.now().setTime(9_999);
  assert.equal(clock.now().getTime(), 1_000);
  clock.advance(500);
  assert.equal(clock.now().getTime(), 1_500);
  clock.set(new Date(10));
  assert.equal(clock.now().getTime(), 10);
});
