import { Worker } from 'node:worker_threads';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import { EXCHANGE_TIMEOUT_MS } from './exchange.ts';
import { notSent, type Sender, type SendRequest } from './sender.ts';
import type { Answer } from './transport.ts';

export type NumberedRequest = Omit<SendRequest, 'signingKey'> & { number: number; signingKey: string };
/** `fault`: it is the sender that failed, not the endpoint. */
export type NumberedAnswer = { number: number; answer: Answer; fault?: string | undefined };

const SCRIPT = new URL('./sender-worker.ts', import.meta.url);
/** After a thread has died, so that one that cannot even start does not keep the machine busy. */
const RESTART_DELAY_MS = 1_000;
/** Every exchange has ended by its own deadline long before: a thread that is silent for so long is stuck. */
const STUCK_AFTER_MS = 3 * EXCHANGE_TIMEOUT_MS;
const STOPPING = 'the service is stopping';
const GIVEN_UP = 'it could not be sent';

type Deps = {
  clock: Clock;
  timers: Timers;
  log: Log;
  /** What the thread runs. */
  script?: URL | undefined;
};

type Awaited = { request: NumberedRequest; since: number; tries: number; done(answer: Answer): void };

/**
 * A sender in a thread of its own. Signing and sending is most of what a dispatcher does; there it takes nothing from
 * those who wait for an answer of the API, and a second core has something to do. The requests of one turn go over
 * together, and so do the answers.
 *
 * A thread that dies is replaced, and what it had is delivered once more by the next: that is nobody's failed attempt.
 */
export function createSenderThread({ clock, timers, log, script = SCRIPT }: Deps): Sender {
  /** In the order in which they were handed over. */
  const awaited = new Map<number, Awaited>();
  let outbox: NumberedRequest[] = [];
  let thread: Worker | undefined;
  let isOpen = true;
  let isResting = false;
  let lastNumber = 0;
  let cancelWatch: (() => void) | undefined;

  function start(): Worker {
    const worker = new Worker(script, { name: 'sender' });
    worker.on('message', (answers: readonly NumberedAnswer[]) => {
      for (const { number, answer, fault } of answers) {
        if (fault !== undefined) log.error({ reason: fault }, 'a delivery could not be sent');
        settle(number, answer);
      }
    });
    worker.on('error', (error) => log.error({ err: error }, 'the thread that sends deliveries has failed'));
    worker.on('exit', () => {
      thread = undefined;
      if (isOpen) recover();
      else for (const number of awaited.keys()) settle(number, notSent(STOPPING));
    });
    return worker;
  }

  function recover(): void {
    log.error(
      { requests: awaited.size },
      'the thread that sends deliveries has ended; another one takes over',
    );
    outbox = [];
    for (const [number, entry] of awaited)
      if (entry.tries > 1) settle(number, notSent(GIVEN_UP));
      else hand(entry);
    isResting = true;
    timers.after(RESTART_DELAY_MS, () => {
      isResting = false;
      flush();
    });
  }

  function hand(entry: Awaited): void {
    entry.tries += 1;
    entry.since = clock.now().getTime();
    if (outbox.push(entry.request) === 1) setImmediate(flush);
  }

  function flush(): void {
    if (outbox.length === 0 || isResting || !isOpen) return;
    thread ??= start();
    thread.postMessage(outbox);
    outbox = [];
    watch();
  }

  function settle(number: number, answer: Answer): void {
    const entry = awaited.get(number);
    awaited.delete(number);
    entry?.done(answer);
  }

  function watch(): void {
    cancelWatch ??= timers.after(STUCK_AFTER_MS, () => {
      cancelWatch = undefined;
      const [oldest] = awaited.values();
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
        awaited.set(number, entry);
        hand(entry);
      });
    },
    async close() {
      isOpen = false;
      cancelWatch?.();
      await thread?.terminate();
      for (const number of awaited.keys()) settle(number, notSent(STOPPING));
    },
  };
}
