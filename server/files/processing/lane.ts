import type { Queries } from '../../infrastructure/database/database.ts';
import { type Clock, later } from '../../infrastructure/runtime/clock.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import type { FileRow } from '../store.ts';
import { PROCESSING_LEASE_MS } from './process-file.ts';
import { claimFiles, type Work } from './queue-store.ts';

/** Lower than the guid of any Organization. */
const LOWEST_GUID = '0'.repeat(32);

type Deps = {
  queries: Queries;
  clock: Clock;
  log: Log;
  /** The holder of the leases. */
  self: string;
  stopping: AbortSignal;
  work: Work;
  concurrency: number;
  handle(file: FileRow): Promise<void>;
  onDone(): void;
};

/** Claims files for one kind of work, round-robin over Organizations, up to `concurrency` at once. */
export function createLane({ queries, clock, log, self, stopping, work, concurrency, handle, onDone }: Deps) {
  const active = new Set<Promise<void>>();
  /** The Organization of the last claimed file. */
  let after = LOWEST_GUID;

  function start(file: FileRow): void {
    const running: Promise<void> = handle(file)
      .catch((error: unknown) =>
        log.warn({ err: error, file: file.guid }, 'could not process a file; its lease will expire'),
      )
      .finally(() => {
        active.delete(running);
        onDone();
      });
    active.add(running);
  }

  return {
    active,

    /** Ends when the lane is full or one round over all Organizations has found nothing; returns the number of files. */
    async claim(): Promise<number> {
      let isWholeRound = after === LOWEST_GUID;
      let found = 0;
      let claimed = 0;
      while (active.size < concurrency && !stopping.aborted) {
        const now = clock.now();
        const lease = { by: self, until: later(now, PROCESSING_LEASE_MS) };
        const limit = concurrency - active.size;
        const { files, next } = await claimFiles(queries, { work, now, lease, after, limit });
        for (const file of files) start(file);
        found += files.length;
        claimed += files.length;
        after = next ?? LOWEST_GUID;
        if (next !== undefined) continue;
        if (isWholeRound && found === 0) break;
        isWholeRound = true;
        found = 0;
      }
      return claimed;
    },
  };
}
