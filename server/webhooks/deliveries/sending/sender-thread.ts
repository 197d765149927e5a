import { Worker } from 'node:worker_threads';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import { type Answer, EXCHANGE_TIMEOUT_MS, notSent } from './exchange.ts';
import type { Sender, SendRequest } from './sender.ts';

export type NumberedRequest = Omit<SendRequest, 'signingKey'> & { number: number; signingKey: string };
/** `fault`: the sender failed, not the endpoint. */
export type NumberedAnswer = { number: number; answer: Answer; fault?: string | undefined };

const SCRIPT = new URL('./sender-worker.ts', import.meta.url);
/** A thread that cannot start must not keep the machine busy. */
const RESTART_DELAY_MS = 1_000;
/** Every exchange ends by its own timeout long before, so a thread silent for this long is stuck. */
const STUCK_AFTER_MS = 3 * EXCHANGE_TIMEOUT_MS;
const MAX_TRIES = 2;
const STOPPING = 'the service is stopping';
const NOT_SENT = 'the request could not be sent';

type Deps = {
  clock: Clock;
  timers: Timers;
  log: Log;
  /** Script of the worker thread. */
  script?: URL | undefined;
};

type Pending = { request: NumberedRequest; since: number; tries: number; done(answer: Answer): void };

/**
 * A sender in a worker thread: signing and sending is most of a dispatcher's work and would delay API responses.
 * Requests of one turn of the event loop are passed over together, and so are their answers. A thread that dies is
 * replaced, and the next one sends its pending requests once more; this does not count as a failed attempt.
 */
export function createSenderThread({ clock, timers, log, script = SCRIPT }: Deps): Sender {
  /** By number, so the oldest comes first. */
  const pending = new Map<number, Pending>();
  let outbox: NumberedRequest[] = [];
  let thread: Worker | undefined;
  let isOpen = true;
  let isRestarting = false;
  let lastNumber = 0;
  let cancelWatch: (() => void) | undefined;

  function start(): Worker {
    const worker = new Worker(script, { name: 'sender' });
    worker.on('message', (answers: readonly NumberedAnswer[]) => {
      for (const { number, answer, fault } of answers) {
        if (fault !== undefined) log.error({ reason: fault }, 'could not send a delivery');
        resolve(number, answer);
      }
    });
    worker.on('error', (error) => log.error({ err: error }, 'sender thread failed'));
    worker.on('exit', () => {
      thread = undefined;
      if (isOpen) restart();
      else resolveAll(STOPPING);
    });
    return worker;
  }

  function restart(): void {
    log.error({ requests: pending.size }, 'sender thread exited; restarting it');
    outbox = [];
    for (const [number, entry] of pending)
      if (entry.tries >= MAX_TRIES) resolve(number, notSent(NOT_SENT));
      else push(entry);
    isRestarting = true;
    timers.after(RESTART_DELAY_MS, () => {
      isRestarting = false;
      flush();
    });
  }

  function push(entry: Pending): void {
    entry.tries += 1;
    entry.since = clock.now().getTime();
    if (outbox.push(entry.request) === 1) process.nextTick(flush);
  }

  function flush(): void {
    if (outbox.length === 0 || isRestarting || !isOpen) return;
    thread ??= start();
    thread.postMessage(outbox);
    outbox = [];
    watch();
  }

  function resolve(number: number, answer: Answer): void {
    const entry = pending.get(number);
    pending.delete(number);
    entry?.done(answer);
  }

  function resolveAll(reason: string): void {
    for (const number of pending.keys()) resolve(number, notSent(reason));
  }

  function watch(): void {
    cancelWatch ??= timers.after(STUCK_AFTER_MS, () => {
      cancelWatch = undefined;
      const [oldest] = pending.values();
      if (oldest === undefined) return;
      if (clock.now().getTime() - oldest.since < STUCK_AFTER_MS) watch();
      else void thread?.terminate();
    });
  }

  return {
    send(request) {
      if (!isOpen) return Promise.resolve(notSent(STOPPING));
      lastNumber += 1;
      const number = lastNumber;
      const numbered = { ...request, number, signingKey: request.signingKey.reveal() };
      return new Promise((done) => {
        const entry = { request: numbered, since: 0, tries: 0, done };
        pending.set(number, entry);
        push(entry);
      });
    },
    async close() {
      isOpen = false;
      cancelWatch?.();
      await thread?.terminate();
      resolveAll(STOPPING);
    },
  };
}
