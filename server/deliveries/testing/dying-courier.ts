import { parentPort } from 'node:worker_threads';
import type { NumberedLetter } from '../courier-thread.ts';

/** Stands in for the courier's thread: a letter to `http://die/` is its end, to `http://live/` it has an answer. */
parentPort?.on('message', (letters: readonly NumberedLetter[]) => {
  if (letters.some(({ url }) => url === 'http://die/')) throw new Error('as if by a bug');
  const answer = { kind: 'answered', status: 204, retryAfter: undefined, excerpt: '', durationMs: 1 };
  const answered = letters.filter(({ url }) => url === 'http://live/');
  parentPort?.postMessage(answered.map(({ number }) => ({ number, answer })));
});
