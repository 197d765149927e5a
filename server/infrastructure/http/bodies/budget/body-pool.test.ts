import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBodyPool } from './body-pool.ts';

function createPool() {
  const pool = createBodyPool({ maxBytes: 64, maxBytesOfSender: 16, shedsOwn: true });
  const shed: string[] = [];
  function begin(key: string, bytes: number, name = key) {
    const share = pool.open(key);
    share.whenShed(() => shed.push(name));
    return { ...share, isTaken: share.take(bytes) };
  }
  return { pool, shed, begin };
}

test('a full pool sheds a body of the largest sender and accepts the new one', () => {
  const { pool, shed, begin } = createPool();
  for (const key of ['a', 'b', 'c']) begin(key, 15);
  for (const name of ['oldest', 'newer']) begin('largest', 8, name);
  for (const key of ['d', 'e', 'f']) begin(key, 1);
  assert.equal(pool.held(), 64);
  assert.ok(begin('newcomer', 2).isTaken);
  assert.deepEqual(shed, ['oldest'], 'its oldest body');
  assert.equal(pool.held(), 58);
});

test('a body is rejected when its sender would be about as large as the largest', () => {
  const { pool, shed, begin } = createPool();
  for (const key of ['a', 'b', 'c', 'd']) begin(key, 14);
  assert.equal(begin('newcomer', 9).isTaken, false);
  assert.deepEqual(shed, []);
  assert.equal(pool.held(), 56);
});

test('a sender over its limit loses its own oldest body', () => {
  const { pool, shed, begin } = createPool();
  begin('other', 16);
  begin('a', 10, 'oldest');
  const newer = begin('a', 6, 'newer');
  assert.ok(newer.take(2));
  assert.deepEqual(shed, ['oldest']);
  assert.equal(newer.take(9), false, 'a body larger than the limit of its sender is rejected');
  assert.deepEqual(shed, ['oldest']);
  assert.equal(pool.held(), 24);
});

test('a complete body is not shed and counts until its release', () => {
  const { pool, shed, begin } = createPool();
  const complete = ['a', 'b', 'c', 'd'].map((key) => begin(key, 16));
  for (const share of complete) share.complete();
  assert.equal(begin('newcomer', 1).isTaken, false);
  assert.equal(begin('a', 1).isTaken, false);
  assert.deepEqual(shed, []);
  complete[0]?.release();
  assert.ok(begin('newcomer', 1).isTaken);
  for (const share of complete) share.release();
  assert.equal(pool.held(), 1);
});

test('a shed body counts nothing and is released only once', () => {
  const { pool, begin } = createPool();
  const shed = begin('a', 16);
  begin('a', 4);
  assert.equal(shed.take(1), false);
  shed.complete();
  shed.release();
  assert.equal(pool.held(), 4);
});
