import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import type { Transaction } from './database.ts';
import { createRemembered } from './remembered.ts';

/** A table of numbers by key, and the statements that were sent. */
function createNumbers(numbers: Record<string, number>, maxRemembered = 10) {
  const sent: string[] = [];
  const clock = createFakeClock();
  const of = createRemembered<number>({
    clock,
    async read(_transaction, keys) {
      sent.push(`read ${keys}`);
      return new Map(keys.filter((key) => key in numbers).map((key) => [key, numbers[key] as number]));
    },
    async check(_transaction, remembered) {
      sent.push(`check ${[...remembered].map(([key, value]) => `${key}=${value}`)}`);
    },
    maxRemembered,
  });
  return {
    sent,
    clock,
    ask: async (keys: string[], fresh = false) =>
      Object.fromEntries(await of({} as Transaction, keys, { fresh })),
  };
}

test('a value is read once and checked afterwards', async () => {
  const { ask, sent } = createNumbers({ a: 1, b: 2 });
  assert.deepEqual(await ask(['a', 'b']), { a: 1, b: 2 });
  assert.deepEqual(await ask(['b']), { b: 2 });
  assert.deepEqual(await ask([]), {});
  assert.deepEqual(sent, ['read a,b', 'check b=2']);
});

test('all values are read when one is not known or when they must be fresh', async () => {
  const numbers: Record<string, number> = { a: 1 };
  const { ask, sent } = createNumbers(numbers);
  assert.deepEqual(await ask(['a', 'missing']), { a: 1 });
  assert.deepEqual(await ask(['a', 'missing']), { a: 1 });
  numbers.a = 2;
  assert.deepEqual(await ask(['a']), { a: 1 }, 'the database refuses it');
  assert.deepEqual(await ask(['a'], true), { a: 2 });
  assert.deepEqual(sent, ['read a,missing', 'read a,missing', 'check a=1', 'read a']);
});

for (const [name, ms] of [
  ['for ten seconds', 10_000],
  ['until the clock is set back', -86_400_000],
] as const)
  test(`a value that has changed is read ${name}, then remembered again`, async () => {
    const numbers: Record<string, number> = { a: 1, b: 1 };
    const { ask, sent, clock } = createNumbers(numbers);
    await ask(['a', 'b']);
    numbers.a = 2;
    await ask(['a', 'b'], true);
    sent.length = 0;
    await ask(['a', 'b']);
    await ask(['b']);
    clock.set(new Date(clock.now().getTime() + ms));
    await ask(['a', 'b']);
    assert.deepEqual(sent, ['read a,b', 'check b=1', 'check a=2,b=1']);
  });

test('the oldest values are forgotten', async () => {
  const { ask, sent } = createNumbers({ a: 1, b: 2, c: 3 }, 2);
  for (const key of ['a', 'b', 'c', 'c', 'a']) await ask([key]);
  assert.deepEqual(sent, ['read a', 'read b', 'read c', 'check c=3', 'read a']);
});
