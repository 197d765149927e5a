import type { Clock } from '../../../infrastructure/runtime/clock.ts';

/** Each run is followed by a pause of `pausePerRun` times its duration, at most `maxPauseMs`. */
export type PaceLimits = { pausePerRun: number; maxPauseMs: number };

/** Limits the share of time that repeated work takes, however long each run is. */
export function createPace(clock: Clock, { pausePerRun, maxPauseMs }: PaceLimits) {
  let nextAt = 0;

  return {
    /** Undefined if the work may run now. A clock that was set back does not lengthen the pause. */
    pausedUntil(): Date | undefined {
      const now = clock.now().getTime();
      return now < nextAt && nextAt <= now + maxPauseMs ? new Date(nextAt) : undefined;
    },

    async run<T>(work: () => Promise<T>): Promise<T> {
      const startedAt = clock.now().getTime();
      const result = await work();
      const endedAt = clock.now().getTime();
      nextAt = endedAt + Math.min(maxPauseMs, pausePerRun * (endedAt - startedAt));
      return result;
    },
  };
}
