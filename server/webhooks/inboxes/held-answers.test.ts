import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createHeldAnswers } from './held-answers.ts';

const HANG_MS = 30_000;

function create() {
  const clock = createFakeClock();
  const { hold, close } = createHeldAnswers({ timers: clock });
  return { hold: (guid: string, socket = new Socket()) => hold(guid, HANG_MS, socket), close };
}

test('one Organization does not use up all answers that can be held', () => {
  const { hold, close } = create();
  const taken = Array.from({ length: 1_000 }, () => hold('flooding')).filter(Boolean);
  assert.equal(taken.length, 64);
  assert.ok(hold('other'));
  close();
});

test('a connection that was closed before holds nothing', async () => {
  const { hold } = create();
  const socket = new Socket();
  socket.destroy();
  await setImmediate();
  for (let count = 0; count < 100; count += 1) await hold('one', socket);
});

test('a shutdown ends what is held, and what would be held later', async () => {
  const { hold, close } = create();
  const held = hold('one');
  close();
  await held;
  await hold('one');
});
