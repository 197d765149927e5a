import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';

/**
 * When to look into the queue: when woken, when something comes due, and now and then in any case, so that a lost
 * message makes a delivery late and never loses it.
 */
const LOOK_EVERY_MS = 1_000;
const RETRY_AFTER_MS = 1_000;
/** Rounds follow each other at this distance at least, however often somebody wakes. */
const MIN_GAP_MS = 10;

type Round = {
  /** Something was found, so there may be more. */
  progress: boolean;
  nextDueAt: Date | undefined;
};

export function createQueuePolling({
  clock,
  timers,
  log,
  work,
}: {
  clock: Clock;
  timers: Timers;
  log: Log;
  work(): Promise<Round>;
}) {
  let current: Promise<boolean> | undefined;
  let cancel = () => {};
  let dueAt = Number.POSITIVE_INFINITY;
  let lastEnded = 0;
  let stopped = false;

  /** One round; true when it found something. */
  async function once(): Promise<boolean> {
    while (current) await current;
    current = run().finally(() => {
      current = undefined;
    });
    return current;
  }

  async function run(): Promise<boolean> {
    try {
      const { progress, nextDueAt } = await work();
      lastEnded = clock.now().getTime();
      if (progress) wakeIn(0);
      else wakeAt(nextDueAt);
      return progress;
    } catch (error) {
      log.warn({ err: error }, 'the queue could not be read; trying again');
      lastEnded = clock.now().getTime();
      wakeIn(RETRY_AFTER_MS);
      return false;
    }
  }

  function wakeIn(ms: number): void {
    const now = clock.now().getTime();
    // A clock that was set back must not make the gap longer than it is.
    const gapEnd = Math.min(lastEnded, now) + MIN_GAP_MS;
    const at = Math.max(now + Math.min(ms, LOOK_EVERY_MS), gapEnd);
    if (stopped || at >= dueAt) return;
    dueAt = at;
    cancel();
    cancel = timers.after(at - now, () => {
      dueAt = Number.POSITIVE_INFINITY;
      // During a round everybody who wakes shares the one after it.
      if (current) void current.then(() => wakeIn(0));
      else void once();
    });
  }

  function wakeAt(moment: Date | undefined): void {
    wakeIn(moment === undefined ? LOOK_EVERY_MS : Math.max(0, moment.getTime() - clock.now().getTime()));
  }

  return {
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
