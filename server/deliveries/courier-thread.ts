import { Worker } from 'node:worker_threads';
import type { Log } from '../runtime/log.ts';
import { type Courier, type Letter, notDelivered } from './courier.ts';
import type { Answer } from './transport.ts';

export type NumberedLetter = Omit<Letter, 'signingKey'> & { number: number; signingKey: string };
export type NumberedAnswer = { number: number; answer: Answer };

const SCRIPT = new URL('./courier-worker.ts', import.meta.url);
const STOPPING = 'the service is stopping';

type Deps = {
  log: Log;
  /** What the thread runs. */
  script?: URL | undefined;
};

type Thread = { worker: Worker; letters: NumberedLetter[]; awaited: Map<number, (answer: Answer) => void> };

/**
 * A courier in a thread of its own. Signing and sending is most of what a dispatcher does; there it takes nothing from
 * those who wait for an answer of the API, and a second core has something to do. The letters of one turn go over
 * together, and so do the answers. A thread that dies takes its letters along (these become `unreachable` and are tried
 * again), and the next letter starts another.
 */
export function createCourierThread({ log, script = SCRIPT }: Deps): Courier {
  let current: Thread | undefined;
  let isOpen = true;
  let number = 0;

  function start(): Thread {
    const worker = new Worker(script, { name: 'courier' });
    const thread: Thread = { worker, letters: [], awaited: new Map() };
    worker.on('message', (answers: readonly NumberedAnswer[]) => {
      for (const { number, answer } of answers) settle(thread, number, answer);
    });
    worker.on('error', (error) => log.error({ err: error }, 'the thread that sends deliveries has failed'));
    worker.on('exit', () => {
      if (current === thread) current = undefined;
      const reason = isOpen ? 'the thread that sends has ended' : STOPPING;
      for (const number of thread.awaited.keys()) settle(thread, number, notDelivered(reason));
    });
    return thread;
  }

  function settle({ awaited }: Thread, number: number, answer: Answer): void {
    const done = awaited.get(number);
    awaited.delete(number);
    done?.(answer);
  }

  function hand(thread: Thread, letter: NumberedLetter): void {
    if (thread.letters.push(letter) > 1) return;
    setImmediate(() => {
      thread.worker.postMessage(thread.letters);
      thread.letters = [];
    });
  }

  return {
    deliver(letter) {
      if (!isOpen) return Promise.resolve(notDelivered(STOPPING));
      current ??= start();
      const { awaited } = current;
      number += 1;
      hand(current, { ...letter, number, signingKey: letter.signingKey.reveal() });
      return new Promise((done) => awaited.set(number, done));
    },
    async close() {
      isOpen = false;
      await current?.worker.terminate();
    },
  };
}
