import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPasswords, type HashRequester } from './passwords.ts';

const ANYONE: HashRequester = { class: 'anyone', source: 'somewhere' };

test('a password matches only its own hash, and never a missing one', async () => {
  const passwords = createPasswords();
  const [one, two] = [await passwords.hash(ANYONE, 'one'), await passwords.hash(ANYONE, 'one')];
  assert.notEqual(one, two, 'each hash has its own salt');
  assert.equal(await passwords.matches(ANYONE, one as string, 'one'), true);
  assert.equal(await passwords.matches(ANYONE, one as string, 'two'), false);
  for (const nothing of [undefined, null]) assert.equal(await passwords.matches(ANYONE, nothing, ''), false);
});

test('password hashing does not block the event loop', async () => {
  const passwords = createPasswords();
  let turns = 0;
  let done = false;
  const turn = () => {
    turns += 1;
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  await Promise.all(Array.from({ length: 8 }, () => passwords.matches(ANYONE, undefined, 'x')));
  done = true;
  // Hashing on the event loop would allow only one or two turns per hash.
  assert.ok(turns > 100, `${turns} turns`);
});
