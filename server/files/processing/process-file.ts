import { type Audit, systemActor } from '../../infrastructure/audit/service.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import type { Clock, Timers } from '../../infrastructure/runtime/clock.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../infrastructure/runtime/metrics.ts';
import { changeOf } from '../records.ts';
import type { Removals } from '../storage/cleanup/deletions.ts';
import type { Storage } from '../storage/storage.ts';
import type { FileRow } from '../store.ts';
import type { Examine, Verdict } from './inspection.ts';
import { type Looks, later } from './poll-schedule.ts';
import * as queue from './queue-store.ts';

/** A file whose processor is gone is taken up by another after this time. */
export const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 20_000;
/** After something went wrong that may pass: a quarter of the time that the file has waited, within these bounds. */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 600_000;
/** What still comes by a store's own link after its file was given up. */
const LATE_CONTENT_MS = 24 * 3_600_000;

export type TreatmentDeps = {
  database: Database;
  clock: Clock;
  timers: Timers;
  audit: Audit;
  log: Log;
  metrics: Metrics;
  storage: Storage;
  looks: Looks;
  removals: Removals;
  examine: Examine;
};

class LeaseLost extends Error {}

/**
 * One file that this node has leased under the name `self`: what is found out about it is written down only while the
 * lease is its own. `stopping` breaks off what takes long.
 */
export function createTreatment(deps: TreatmentDeps, self: string, stopping: AbortSignal) {
  const { database, clock, timers, audit, log, metrics, storage, looks, removals, examine } = deps;
  const { queries } = database;

  /** Keeps the lease while `work` goes on; the signal tells when that was lost, or this process stops. */
  async function underLease(file: FileRow, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const lost = new AbortController();
    let cancel = () => {};
    const renew = async () => {
      const renewed = { next_look_at: later(clock.now(), LEASE_MS) };
      if (!(await queue.updateLeased(queries, file.guid, self, renewed))) lost.abort(new LeaseLost());
    };
    const renewLater = () => {
      cancel = timers.after(RENEW_EVERY_MS, () => {
        // Not renewed once is no harm: the lease lasts for three times.
        renew().catch((error: unknown) => log.warn({ reason: String(error) }, 'a lease was not renewed'));
        renewLater();
      });
    };
    renewLater();
    try {
      await work(AbortSignal.any([lost.signal, stopping]));
    } catch (error) {
      throw lost.signal.aborted ? lost.signal.reason : error;
    } finally {
      cancel();
    }
  }

  /** Whether its content has come, to be examined next. If not: when to look again, or that it will not come any more. */
  async function lookFor(file: FileRow): Promise<void> {
    const found = await storage.head(file.guid);
    const now = clock.now();
    const unleased = { leased_by: null, upload_leased_by: null, upload_leased_until: null };
    const arrived = {
      uploaded_at: now,
      updated_at: now,
      next_look_at: now,
      pending_bytes: found?.size ?? null,
    };
    if (found) return updateOwn(file, { ...arrived, ...unleased });
    const next_look_at = looks.nextLookAt(file, now);
    if (next_look_at) await updateOwn(file, { next_look_at, leased_by: null });
    else await end(file, { failureCode: 'upload_expired' });
  }

  async function updateOwn(file: FileRow, changes: Parameters<typeof queue.updateLeased>[3]): Promise<void> {
    if (!(await queue.updateLeased(queries, file.guid, self, changes))) throw new LeaseLost();
  }

  /** Its end, and with it what must not stay of its content. */
  async function end(file: FileRow, { failureCode, size, sha256 }: Verdict): Promise<void> {
    const now = clock.now();
    const removeAt = failureCode === 'upload_expired' ? later(now, LATE_CONTENT_MS) : now;
    const ended = await database.transaction(async (transaction) => {
      const row = await queue.updateLeased(transaction, file.guid, self, {
        ...{ size: size ?? null, sha256: sha256 ?? null },
        ...{ next_look_at: null, leased_by: null, updated_at: now },
        ...(failureCode ? { failed_at: now, failure_code: failureCode } : { completed_at: now }),
      });
      if (!row) return undefined;
      await audit.record(transaction, systemActor, changeOf(failureCode ? 'fail' : 'complete', row));
      if (failureCode) await queue.insertRemoval(transaction, row.guid, removeAt);
      return row;
    });
    if (!ended) throw new LeaseLost();
    metrics.files.inc({ state: failureCode ? 'failed' : 'completed' });
    if (file.uploaded_at) metrics.fileSeconds.observe((now.getTime() - file.uploaded_at.getTime()) / 1_000);
    if (failureCode && removeAt === now) await removals.removeNow(file.guid, removeAt);
  }

  async function postpone(file: FileRow, error: unknown): Promise<void> {
    const now = clock.now();
    const waitedMs = now.getTime() - (file.uploaded_at ?? file.created_at).getTime();
    const retryMs = Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, waitedMs / 4));
    if (!stopping.aborted)
      log.warn({ err: error, file: file.guid }, 'a file cannot be processed yet; it is tried again');
    const next_look_at = stopping.aborted ? now : later(now, retryMs);
    await queue.updateLeased(queries, file.guid, self, { next_look_at, leased_by: null });
  }

  /** A failure that may pass puts the file off; a lost lease leaves it to the node that has it. */
  async function attempt(file: FileRow, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await underLease(file, work);
    } catch (error) {
      if (error instanceof LeaseLost) log.info({ file: file.guid }, 'lost the lease on a file');
      else await postpone(file, error);
    }
  }

  return {
    examineArrived: (file: FileRow) =>
      attempt(file, async (signal) => end(file, await examine(file, signal))),
    lookForAwaited: (file: FileRow) => attempt(file, () => lookFor(file)),
  };
}
