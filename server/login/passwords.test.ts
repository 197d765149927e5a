import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFailure } from '../runtime/failure.ts';
import { createPasswords } from './passwords.ts';

test('a password matches its own hash only, and nothing matches no hash', async () => {
  const passwords = createPasswords();
  const [one, two] = [await passwords.hash('one'), await passwords.hash('one')];
  assert.notEqual(one, two, 'each has a salt of its own');
  assert.equal(await passwords.matches(one as string, 'one'), true);
  assert.equal(await passwords.matches(one as string, 'two'), false);
  for (const nothing of [undefined, null]) assert.equal(await passwords.matches(nothing, ''), false);
});

test('the event loop goes on while passwords are compared', async () => {
  const passwords = createPasswords();
  let turns = 0;
  let done = false;
  const turn = () => {
    turns += 1;
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  await Promise.all(Array.from({ length: 8 }, () => passwords.matches(undefined, 'x')));
  done = true;
  // On the loop itself there would be a turn or two for each of them.
  assert.ok(turns > 100, `${turns} turns`);
});

test('when too many wait, the next is sent away at once', async () => {
  const passwords = createPasswords();
  const answers = Array.from({ length: 110 }, () => passwords.matches(undefined, 'x'));
  const results = await Promise.all(answers);
  const refused = results.filter(isFailure);
  assert.equal(refused.length, 8, 'two at work and a hundred waiting were served');
  assert.deepEqual([refused[0]?.code, refused[0]?.retryAfterSeconds], ['overloaded', 2]);
  assert.equal(await passwords.matches(undefined, 'x'), false, 'there is room again');
});
