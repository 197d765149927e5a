import { parentPort } from 'node:worker_threads';
import { systemResolve } from '../../../infrastructure/network/resolve.ts';
import { setBounded } from '../../../infrastructure/runtime/bounded-map.ts';
import { systemClock, systemTimers } from '../../../infrastructure/runtime/clock.ts';
import { Secret } from '../../../infrastructure/runtime/secret.ts';
import { createCourier, notDelivered } from './sender.ts';
import type { NumberedAnswer, NumberedLetter } from './sender-thread.ts';

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
  setBounded(secrets, text, secret, MAX_KEYS);
  return secret;
}

/** What goes wrong here is told of this letter; the others go on. */
async function deliver({ number, signingKey, ...letter }: NumberedLetter): Promise<NumberedAnswer> {
  try {
    return { number, answer: await courier.deliver({ ...letter, signingKey: secretOf(signingKey) }) };
  } catch (error) {
    return { number, answer: notDelivered('it could not be sent'), fault: String(error) };
  }
}

function tell(answer: NumberedAnswer): void {
  if (answers.push(answer) > 1) return;
  setImmediate(() => {
    parentPort?.postMessage(answers);
    answers = [];
  });
}

parentPort?.on('message', (letters: readonly NumberedLetter[]) => {
  for (const letter of letters) void deliver(letter).then(tell);
});
