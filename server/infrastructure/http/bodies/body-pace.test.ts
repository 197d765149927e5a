import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBodyPace } from './body-pace.ts';

const MEBIBYTE = 1024 ** 2;

/** Event loop turns that the test advances. */
function createTurns() {
  let next: (() => void) | undefined;
  const pace = createBodyPace((work) => {
    next = work;
  });
  const done: string[] = [];
  return {
    done,
    read: (name: string, bytes: number) => pace.read(bytes, () => done.push(name)),
    parse: (name: string, bytes: number) => pace.parse(bytes, () => done.push(name)),
    turn(): void {
      const work = next;
      next = undefined;
      work?.();
    },
    isIdle: () => next === undefined,
  };
}

test('a turn processes a limited number of bytes, and the rest follows in order', () => {
  const { read, turn, done, isIdle } = createTurns();
  for (const name of ['a', 'b', 'c', 'd', 'e']) read(name, MEBIBYTE / 2);
  assert.deepEqual(done, ['a', 'b']);
  turn();
  assert.deepEqual(done, ['a', 'b', 'c', 'd']);
  turn();
  assert.deepEqual(done, ['a', 'b', 'c', 'd', 'e']);
  turn();
  assert.ok(isIdle(), 'nothing is left to run');
});

test('parsing weighs more than reading, and work over the limit runs alone in its turn', () => {
  const { read, parse, turn, done } = createTurns();
  parse('a', MEBIBYTE);
  parse('b', 1_000);
  read('c', 1_000);
  assert.deepEqual(done, ['a']);
  turn();
  assert.deepEqual(done, ['a', 'b', 'c']);
});
