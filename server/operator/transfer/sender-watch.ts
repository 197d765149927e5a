import type { Readable } from 'node:stream';
import type { Timers } from '../../infrastructure/runtime/clock.ts';

/** An import has no total time limit, but holds a transaction. Long, because an export in the same pipe freezes first. */
const CHECK_MS = 600_000;
const MIN_BYTES = 64 * 1024;

/** The sender was too slow. */
export class StalledSender extends Error {}

/**
 * Calls `fail` when too few bytes arrive between two checks, except while the import itself does not read. Returns a function
 * that ends the watch.
 */
export function watchSender(source: Readable, timers: Timers, fail: (error: Error) => void): () => void {
  let received = 0;
  let hasPaused = false;
  const count = (chunk: Buffer) => {
    received += chunk.length;
  };
  const onPause = () => {
    hasPaused = true;
  };

  function check(): void {
    const isSlow = received < MIN_BYTES && !hasPaused && !source.isPaused();
    if (isSlow && !source.readableEnded)
      fail(
        new StalledSender(
          `fewer than ${MIN_BYTES} bytes of the file arrived in ${CHECK_MS / 60_000} minutes`,
        ),
      );
    received = 0;
    hasPaused = false;
    cancel = timers.after(CHECK_MS, check);
  }

  source.on('data', count).on('pause', onPause);
  let cancel = timers.after(CHECK_MS, check);
  return () => {
    cancel();
    source.off('data', count).off('pause', onPause);
  };
}
