import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFloor } from './floor.ts';

const MARGIN_MS = 30_000;

test('the oldest transaction in progress dates the floor, however many there are', () => {
  const floor = createFloor();
  floor.of('5:5:', 1_000_000);
  assert.equal(floor.of('9:9:', 2_000_000), 2_000_000 - MARGIN_MS);
  assert.equal(floor.of('9:12:9,10,11', 3_000_000), 2_000_000 - MARGIN_MS);
  assert.equal(floor.of('9:14:9,11', 4_000_000), 2_000_000 - MARGIN_MS);
  assert.equal(floor.of('20:20:', 5_000_000), 5_000_000 - MARGIN_MS);
});
