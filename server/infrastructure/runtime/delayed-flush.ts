import type { Timers } from './clock.ts';

/** Writes collected items some time after the first of them, one write at a time. `write` must not reject. */
export function createDelayedFlush({
  timers,
  delayMs,
  write,
}: {
  timers: Timers;
  delayMs: number;
  write(): Promise<void>;
}) {
  let cancel: (() => void) | undefined;
  let writing: Promise<void> | undefined;
  /** The time of a scheduled flush came during a write: it follows at once, unless that write cancels it. */
  let isDue = false;

  function cancelScheduled(): void {
    cancel?.();
    cancel = undefined;
    isDue = false;
  }

  async function flush(): Promise<void> {
    while (writing) await writing;
    cancelScheduled();
    writing = write().finally(() => {
      writing = undefined;
      if (isDue) void flush();
    });
    await writing;
  }

  return {
    /** Schedules a flush unless one is scheduled already. */
    schedule(ms = delayMs): void {
      if (isDue) return;
      cancel ??= timers.after(ms, () => {
        cancel = undefined;
        if (writing) isDue = true;
        else void flush();
      });
    },
    /** Writes now, after the write in progress. */
    flush,
    /** Resolves after the write in progress. */
    async idle(): Promise<void> {
      while (writing) await writing;
    },
    cancel: cancelScheduled,
  };
}
