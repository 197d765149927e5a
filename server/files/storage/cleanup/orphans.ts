import type { Database } from '../../../infrastructure/database/database.ts';
import { type Clock, later } from '../../../infrastructure/runtime/clock.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import { MAX_FAILURES } from '../delete-each.ts';
import type { Storage } from '../storage.ts';
import { saveProgress, selectKnownContent, selectProgress } from './cleanup-store.ts';

/** Longer than an upload or a creation may take before the record is written, which is an hour. */
const ORPHAN_AFTER_MS = 24 * 3_600_000;
/** From the start of one pass over the whole storage to the start of the next. */
const PASS_EVERY_MS = 24 * 3_600_000;

/**
 * Deletes content without a record: an upload was stored after its file had failed, and the process died before it
 * deleted the content. Each run of the cluster task checks one page of the storage.
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
    /** Returns the number of deleted contents. */
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
      let deleted = 0;
      let failures = 0;
      for (const { guid } of orphans) {
        if (failures === MAX_FAILURES) break;
        try {
          await storage.delete(guid);
          deleted += 1;
          log.warn({ file: guid }, 'deleted orphaned content');
        } catch (error) {
          failures += 1;
          // The next pass finds it again; the pages after it must not wait for it.
          log.warn({ err: error, file: guid }, 'could not delete orphaned content');
        }
      }
      const startedAt = progress && !isNewPass ? progress.pass_started_at : now;
      await saveProgress(queries, { position: next ?? null, pass_started_at: startedAt });
      return deleted;
    },
  };
}
