import type { Queries } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import type { FileRow } from '../store.ts';
import { later } from './poll-schedule.ts';
import { LEASE_MS } from './process-file.ts';
import { claimFiles, type Work } from './queue-store.ts';

/** Before every Organization. */
const FIRST = '0'.repeat(32);

type Deps = {
  queries: Queries;
  clock: Clock;
  log: Log;
  /** The name that files are leased under. */
  self: string;
  stopping: AbortSignal;
  work: Work;
  atOnce: number;
  treat(file: FileRow): Promise<void>;
  onDone(): void;
};

/** One kind of work on files, so many at once, taken from the Organizations in turn. */
export function createLane({ queries, clock, log, self, stopping, work, atOnce, treat, onDone }: Deps) {
  const active = new Set<Promise<void>>();
  /** The Organization that had the last turn in this process. */
  let after = FIRST;

  function take(file: FileRow): void {
    const treatment: Promise<void> = treat(file)
      .catch((error: unknown) =>
        log.warn({ err: error, file: file.guid }, 'could not process a file; its lease will expire'),
      )
      .finally(() => {
        active.delete(treatment);
        onDone();
      });
    active.add(treatment);
  }

  return {
    active,

    /** Fills the lane, or ends when a whole round over the Organizations has found nothing. */
    async claim(): Promise<void> {
      let isWholeRound = after === FIRST;
      let found = 0;
      while (active.size < atOnce && !stopping.aborted) {
        const now = clock.now();
        const lease = { by: self, until: later(now, LEASE_MS) };
        const limit = atOnce - active.size;
        const { files, next } = await claimFiles(queries, { work, now, lease, after, limit });
        for (const file of files) take(file);
        found += files.length;
        after = next ?? FIRST;
        if (next !== undefined) continue;
        if (isWholeRound && found === 0) return;
        isWholeRound = true;
        found = 0;
      }
    },
  };
}
