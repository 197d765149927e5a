import type { Database } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import { later } from '../../processing/poll-schedule.ts';
import type { Storage } from '../storage.ts';
import { saveProgress, selectKnownContent, selectProgress } from './cleanup-store.ts';

/** Older than any upload or inline file that is still to be recorded: those take an hour at most. */
const ORPHAN_AFTER_MS = 24 * 3_600_000;
/** From the beginning of one pass over the whole storage to the next. */
const PASS_EVERY_MS = 24 * 3_600_000;

/**
 * Finds content without a record: an upload that was stored after its file had failed, when the process died before it
 * could remove it again. One page of the storage in each round of the sweeper.
 */
export function createOrphans({
  database: { queries },
  clock,
  storage,
  log,
}: {
  database: Database;
  clock: Clock;
  storage: Storage;
  log: Log;
}) {
  return {
    /** Gives how many it removed. */
    async sweep(): Promise<number> {
      const now = clock.now();
      const progress = await selectProgress(queries);
      const isNewPass = !progress || progress.position === null;
      if (progress && isNewPass && now < later(progress.pass_started_at, PASS_EVERY_MS)) return 0;
      const { contents, next } = await storage.listContent(progress?.position ?? undefined);
      const old = contents.filter(({ storedAt }) => storedAt < later(now, -ORPHAN_AFTER_MS));
      const known = await selectKnownContent(
        queries,
        old.map(({ guid }) => guid),
      );
      const orphans = old.filter(({ guid }) => !known.has(guid));
      for (const { guid } of orphans) {
        await storage.remove(guid);
        log.warn({ file: guid }, 'removed orphaned content');
      }
      const startedAt = progress && !isNewPass ? progress.pass_started_at : now;
      await saveProgress(queries, { position: next ?? null, pass_started_at: startedAt });
      return orphans.length;
    },
  };
}
