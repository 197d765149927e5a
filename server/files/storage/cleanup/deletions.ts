import type { Database, Transaction } from '../../../infrastructure/database/database.ts';
import { type Clock, hasPassed, later } from '../../../infrastructure/runtime/clock.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import { MAX_FAILURES } from '../delete-each.ts';
import type { Storage } from '../storage.ts';
import * as store from './cleanup-store.ts';

export type Deletions = ReturnType<typeof createDeletions>;

const BATCH = 100;
/** A deletion that failed, or whose node died, is tried again after this time. */
const RETRY_AFTER_MS = 600_000;
/**
 * Of one sweep: other tasks and a shutdown wait for it, and a removed Organization may have millions of files. A claimed
 * deletion is not begun later, so that it ends before other nodes take it for unclaimed.
 */
const STOP_AFTER_MS = 10_000;
/** Requests to the storage at the same time. */
const DELETED_AT_ONCE = 10;
/** A deletion that is due within this time may be claimed, by a node whose clock is ahead. */
const MAX_CLAIM_MS = 2 * RETRY_AFTER_MS;
/** Older than any upload in progress and any valid link. */
const UNFINISHED_AFTER_MS = 24 * 3_600_000;
/** Unfinished uploads are rare, and finding them can list a whole folder or bucket. */
const UNFINISHED_SWEEP_EVERY_MS = 3_600_000;

/** Deletes content from the storage. Each deletion is first written to the database, so a crash cannot lose it. */
export function createDeletions({
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
  let unfinishedSweptAt = 0;

  /** `finish` runs once the content is gone. */
  async function tryDelete(guid: string, finish = async () => {}): Promise<boolean> {
    try {
      await storage.delete(guid);
      await finish();
      return true;
    } catch (error) {
      log.warn({ err: error, file: guid }, 'could not delete content; will retry');
      return false;
    }
  }

  function claimWindow(): store.ClaimWindow {
    const now = clock.now();
    return { claimedAfter: now, claimedUntil: later(now, MAX_CLAIM_MS) };
  }

  return {
    schedule: store.insertDeletion,
    cancel: store.cancelDeletion,

    /** Schedules the deletion of content that may be stored already. False while a sweep may be deleting it. */
    takeOver: (guid: string, dueAt: Date): Promise<boolean> =>
      store.insertOrMoveDeletion(queries, guid, dueAt, claimWindow()),

    /** Cancels the deletions of an Organization's files. False while a sweep may be carrying out one of them. */
    cancelOf: (transaction: Transaction, organizationGuid: string): Promise<boolean> =>
      store.cancelDeletionsOf(transaction, organizationGuid, claimWindow()),

    /** Carries out a deletion that was just scheduled. A failure is logged, and the sweep repeats it. */
    async deleteNow(guid: string, dueAt: Date): Promise<void> {
      await tryDelete(guid, () => store.finishDeletions(queries, [guid], dueAt));
    },

    /**
     * Carries out due deletions and returns their number. Content that cannot be deleted keeps no other: it is due later
     * than deletions that were not tried.
     */
    async sweep(): Promise<number> {
      const stopAt = later(clock.now(), STOP_AFTER_MS);
      let total = 0;
      let failures = 0;
      const mayContinue = () => failures < MAX_FAILURES && clock.now() < stopAt;
      for (;;) {
        const now = clock.now();
        const until = later(now, RETRY_AFTER_MS);
        const due = await store.claimDeletions(queries, now, until, BATCH);
        const untried = [...due];
        const deleted: string[] = [];
        while (untried.length > 0 && mayContinue()) {
          const some = untried.splice(0, DELETED_AT_ONCE);
          const results = await Promise.all(some.map((guid) => tryDelete(guid)));
          deleted.push(...some.filter((_, index) => results[index]));
          failures += results.filter((isDeleted) => !isDeleted).length;
        }
        if (deleted.length > 0) await store.finishDeletions(queries, deleted, until);
        if (untried.length > 0) await store.releaseDeletions(queries, untried, until, now);
        total += deleted.length;
        if (due.length < BATCH || !mayContinue()) return total;
      }
    },

    async sweepUnfinishedUploads(): Promise<number> {
      const now = clock.now();
      if (!hasPassed(UNFINISHED_SWEEP_EVERY_MS, unfinishedSweptAt, now.getTime())) return 0;
      const olderThan = later(now, -UNFINISHED_AFTER_MS);
      unfinishedSweptAt = now.getTime();
      return storage.sweepTemporary(olderThan, (guids) => store.selectAwaited(queries, guids));
    },
  };
}
