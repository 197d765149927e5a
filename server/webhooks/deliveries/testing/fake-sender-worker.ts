import { getEnvironmentData, parentPort } from 'node:worker_threads';
import type { NumberedRequest } from '../sending/sender-thread.ts';

/** Replaces the sender's worker thread in tests. The test sets the behaviour of the next thread. */
export type Behaviour = 'crashing' | 'silent' | 'working';

const behaviour = getEnvironmentData('behaviour');

parentPort?.on('message', (requests: readonly NumberedRequest[]) => {
  if (behaviour === 'crashing') throw new Error('test crash');
  if (behaviour === 'silent') return;
  const answer = { kind: 'answered', status: 204, retryAfter: undefined, excerpt: '', durationMs: 1 };
  parentPort?.postMessage(requests.map(({ number }) => ({ number, answer })));
});
