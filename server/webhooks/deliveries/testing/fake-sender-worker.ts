import { getEnvironmentData, parentPort } from 'node:worker_threads';
import type { NumberedRequest } from '../sending/sender-thread.ts';

/** Stands in for the sender's thread, and is as a test wants the next thread to be. */
export type Mood = 'deadly' | 'silent' | 'well';

const mood = getEnvironmentData('mood');

parentPort?.on('message', (requests: readonly NumberedRequest[]) => {
  if (mood === 'deadly') throw new Error('as if by a bug');
  if (mood === 'silent') return;
  const answer = { kind: 'answered', status: 204, retryAfter: undefined, excerpt: '', durationMs: 1 };
  parentPort?.postMessage(requests.map(({ number }) => ({ number, answer })));
});
