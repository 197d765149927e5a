import { parentPort } from 'node:worker_threads';
import { systemResolve } from '../network/resolve.ts';
import { remember } from '../runtime/bounded-map.ts';
import { systemClock, systemTimers } from '../runtime/clock.ts';
import { Secret } from '../runtime/secret.ts';
import { createCourier } from './courier.ts';
import type { NumberedAnswer, NumberedLetter } from './courier-thread.ts';

/** Runs in the courier's thread: delivers every letter that comes, and tells of the answers of each turn together. */
const MAX_KEYS = 10_000;

const courier = createCourier({ clock: systemClock, timers: systemTimers, resolve: systemResolve });
/** The same key is the same Secret, for what signs is kept with it. */
const secrets = new Map<string, Secret>();
let answers: NumberedAnswer[] = [];

function secretOf(text: string): Secret {
  const known = secrets.get(text);
  if (known) return known;
  const secret = new Secret(text);
  remember(secrets, text, secret, MAX_KEYS);
  return secret;
}

function tell(number: number, answer: NumberedAnswer['answer']): void {
  if (answers.push({ number, answer }) > 1) return;
  setImmediate(() => {
    parentPort?.postMessage(answers);
    answers = [];
  });
}

parentPort?.on('message', (letters: readonly NumberedLetter[]) => {
  for (const { number, signingKey, ...letter } of letters)
    void courier
      .deliver({ ...letter, signingKey: secretOf(signingKey) })
      .then((answer) => tell(number, answer));
});
