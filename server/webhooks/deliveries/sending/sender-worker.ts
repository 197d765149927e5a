import { parentPort } from 'node:worker_threads';
import { systemResolve } from '../../../infrastructure/network/resolve.ts';
import { setBounded } from '../../../infrastructure/runtime/bounded-map.ts';
import { systemClock, systemTimers } from '../../../infrastructure/runtime/clock.ts';
import { Secret } from '../../../infrastructure/runtime/secret.ts';
import { createSender, notSent } from './sender.ts';
import type { NumberedAnswer, NumberedRequest } from './sender-thread.ts';

/** The worker thread of `sender-thread.ts`. */
const MAX_KEYS = 10_000;

const sender = createSender({ clock: systemClock, timers: systemTimers, resolve: systemResolve });
/** One Secret for each key, because the sender caches the imported key by its Secret. */
const secrets = new Map<string, Secret>();
let answers: NumberedAnswer[] = [];

function secretOf(text: string): Secret {
  const known = secrets.get(text);
  if (known) return known;
  const secret = new Secret(text);
  setBounded(secrets, text, secret, MAX_KEYS);
  return secret;
}

async function send({ number, signingKey, ...request }: NumberedRequest): Promise<NumberedAnswer> {
  try {
    return { number, answer: await sender.send({ ...request, signingKey: secretOf(signingKey) }) };
  } catch (error) {
    return { number, answer: notSent('the request could not be sent'), fault: String(error) };
  }
}

function post(answer: NumberedAnswer): void {
  if (answers.push(answer) > 1) return;
  setImmediate(() => {
    parentPort?.postMessage(answers);
    answers = [];
  });
}

parentPort?.on('message', (requests: readonly NumberedRequest[]) => {
  for (const request of requests) void send(request).then(post);
});
