import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFloor } from './floor.ts';

test('a snapshot with several transactions in progress is dated by the one before its oldest', () => {
  const floor = createFloor();
  const hour = 3_600_000;
  floor.of('41700:41790:', hour);
  assert.equal(floor.of('41790:41801:41790,41798,41800', 2 * hour), hour - 30_000);
});
