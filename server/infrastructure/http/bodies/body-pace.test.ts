import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBodyPace } from './body-pace.ts';

const MEBIBYTE = 1024 ** 2;

/** Turns of the event loop by hand. */
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

test('a turn takes so many bytes, and the rest waits for the next ones in order', () => {
  const { read, turn, done, isIdle } = createTurns();
  for (const name of ['a', 'b', 'c', 'd', 'e']) read(name, MEBIBYTE / 2);
  assert.deepEqual(done, ['a', 'b']);
  turn();
  assert.deepEqual(done, ['a', 'b', 'c', 'd']);
  turn();
  assert.deepEqual(done, ['a', 'b', 'c', 'd', 'e']);
  turn();
  assert.ok(isIdle(), 'nothing is left to wait for');
});

test('parsing weighs more than reading, and what is heavier than a turn has one for itself', () => {
  const { read, parse, turn, done } = createTurns();
  parse('a', MEBIBYTE);
  parse('b', 1_000);
  read('c', 1_000);
  assert.deepEqual(done, ['a']);
  turn();
  assert.deepEqual(done, ['a', 'b', 'c']);
});
