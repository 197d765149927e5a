import { parentPort } from 'node:worker_threads';
import { systemResolve } from '../../../infrastructure/network/resolve.ts';
import { systemClock, systemTimers } from '../../../infrastructure/runtime/clock.ts';
import { Secret } from '../../../infrastructure/runtime/secret.ts';
import { notSent } from './exchange.ts';
import { createSender } from './sender.ts';
import type { NumberedAnswer, NumberedRequest } from './sender-thread.ts';

/** The worker thread of `sender-thread.ts`. */
const sender = createSender({ clock: systemClock, timers: systemTimers, resolve: systemResolve });
let answers: NumberedAnswer[] = [];

async function send({ number, signingKey, ...request }: NumberedRequest): Promise<NumberedAnswer> {
  try {
    return { number, answer: await sender.send({ ...request, signingKey: new Secret(signingKey) }) };
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
