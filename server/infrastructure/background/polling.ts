import type { Clock, Timers } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';

export type Polling = ReturnType<typeof createPolling>;

const RETRY_AFTER_MS = 1_000;

type PollResult = {
  /** Work was found, so there may be more: the next poll follows at once. */
  progress: boolean;
  nextDueAt: Date | undefined;
};

type Options = {
  clock: Clock;
  timers: Timers;
  log: Log;
  /** Polls follow each other within this time, so that a lost notification delays work and never loses it. */
  maxIntervalMs: number;
  /** Minimum distance between two polls, however often `wake` is called. */
  minIntervalMs: number;
  /** Log message of a failed poll. */
  failureMessage: string;
  poll(): Promise<PollResult>;
};

/** Polls a queue in the database: when woken, when the next entry is due, and at regular intervals. */
export function createPolling(options: Options) {
  const { clock, timers, log, maxIntervalMs, minIntervalMs, failureMessage, poll } = options;
  let current: Promise<boolean> | undefined;
  let cancel = () => {};
  let dueAt = Number.POSITIVE_INFINITY;
  let lastEndedAt = 0;
  let stopped = false;

  async function once(): Promise<boolean> {
    while (current) await current;
    current = run().finally(() => {
      current = undefined;
    });
    return current;
  }

  async function run(): Promise<boolean> {
    try {
      const { progress, nextDueAt } = await poll();
      lastEndedAt = clock.now().getTime();
      if (progress) wakeIn(0);
      else wakeAt(nextDueAt);
      return progress;
    } catch (error) {
      log.warn({ err: error }, failureMessage);
      lastEndedAt = clock.now().getTime();
      wakeIn(RETRY_AFTER_MS);
      return false;
    }
  }

  function wakeIn(ms: number): void {
    const now = clock.now().getTime();
    // A clock that was set back must not lengthen the interval.
    const earliest = Math.min(lastEndedAt, now) + minIntervalMs;
    const at = Math.max(now + Math.min(ms, maxIntervalMs), earliest);
    if (stopped || at >= dueAt) return;
    dueAt = at;
    cancel();
    cancel = timers.after(at - now, () => {
      dueAt = Number.POSITIVE_INFINITY;
      // Calls of `wake` during a poll share the next one.
      if (current) void current.then(() => wakeIn(0));
      else void once();
    });
  }

  function wakeAt(moment: Date | undefined): void {
    wakeIn(moment === undefined ? maxIntervalMs : Math.max(0, moment.getTime() - clock.now().getTime()));
  }

  return {
    /** Polls now; returns whether work was found. */
    once,
    wake: () => wakeIn(0),
    wakeAt: (moment: Date) => wakeAt(moment),
    async stop(): Promise<void> {
      stopped = true;
      cancel();
      await current;
    },
  };
}
