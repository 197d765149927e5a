import { systemTimers, type Timers } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';

/** Something small that is done again and again. It looks at what is due, so a missed round is made up by the next. */
export type Chore = { name: string; run(): Promise<unknown> };

/** In order; one that fails does not keep the others from being done. */
export async function runChores(chores: readonly Chore[], log: Log): Promise<void> {
  for (const chore of chores) {
    try {
      await chore.run();
    } catch (error) {
      log.warn({ err: error, chore: chore.name }, 'a chore failed; the next round tries again');
    }
  }
}

export function createRounds({
  everyMs,
  run,
  log,
  timers = systemTimers,
}: {
  everyMs: number;
  run(): Promise<unknown>;
  log: Log;
  timers?: Timers | undefined;
}) {
  let cancel: (() => void) | undefined;
  let round: Promise<void> | undefined;

  async function runRound(): Promise<void> {
    try {
      await run();
    } catch (error) {
      log.warn({ err: error }, 'a round of chores failed; the next tries again');
    }
  }

  function start(): void {
    cancel = timers.after(everyMs, () => {
      start();
      // A round that takes longer than its turn is not followed by the ones that it held up.
      round ??= runRound().finally(() => {
        round = undefined;
      });
    });
  }

  return {
    start,
    async stop(): Promise<void> {
      cancel?.();
      await round;
    },
  };
}
