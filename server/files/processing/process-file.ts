import type { NewAlert } from '../../alerts/details.ts';
import type { Alerts } from '../../alerts/service.ts';
import type { Freezes } from '../../credentials/organizations/freezes.ts';
import { type Audit, systemActor } from '../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import { type Clock, later, type Timers } from '../../infrastructure/runtime/clock.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../infrastructure/runtime/metrics.ts';
import { changeOf } from '../records.ts';
import type { Deletions } from '../storage/cleanup/deletions.ts';
import type { Storage } from '../storage/storage.ts';
import { type FileChanges, type FileRow, updateFileIf } from '../store.ts';
import type { InspectFile, InspectionResult } from './inspection.ts';
import type { PollSchedule } from './poll-schedule.ts';

/** Another node takes a file over when its lease has not been renewed for this long. */
export const PROCESSING_LEASE_MS = 60_000;
const RENEW_LEASE_EVERY_MS = 20_000;
/** A retry follows after a quarter of the time that the file has waited, within these bounds. */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 600_000;
/** A pre-signed URL of an S3 store can still deliver content after its file has failed. */
const LATE_CONTENT_MS = 24 * 3_600_000;

export type ProcessorDeps = {
  database: Database;
  clock: Clock;
  timers: Timers;
  audit: Audit;
  alerts: Alerts;
  log: Log;
  metrics: Metrics;
  storage: Storage;
  pollSchedule: PollSchedule;
  deletions: Deletions;
  inspect: InspectFile;
  freezes: Pick<Freezes, 'check'>;
};

class LeaseLost extends Error {}
class OrganizationFrozen extends Error {}

/** Handles one file leased by `self`. Results are written only while the lease is held. */
export function createFileProcessor(deps: ProcessorDeps, self: string, stopping: AbortSignal) {
  const { database, clock, timers, audit, alerts, log, metrics, storage } = deps;
  const { pollSchedule, deletions, inspect, freezes } = deps;

  /** Nothing of a frozen Organization changes, not even a lease: its rows may be in an export already. */
  function update(
    file: FileRow,
    changes: FileChanges,
    further?: (transaction: Transaction, row: FileRow) => Promise<void>,
  ): Promise<void> {
    return database.transaction(async (transaction) => {
      if (await freezes.check(file.organization_guid, transaction)) throw new OrganizationFrozen();
      const row = await updateFileIf(transaction, file.guid, { processingLeasedBy: self }, changes);
      if (!row) throw new LeaseLost();
      await further?.(transaction, row);
    });
  }

  /** Renews the lease while `work` runs. The signal aborts when it cannot be kept or the process stops. */
  async function underLease(file: FileRow, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const lost = new AbortController();
    let cancel = () => {};
    const renewLater = () => {
      cancel = timers.after(RENEW_LEASE_EVERY_MS, () => {
        update(file, { next_look_at: later(clock.now(), PROCESSING_LEASE_MS) }).catch((error: unknown) => {
          if (isEnd(error)) lost.abort(error);
          // The lease outlasts two failed renewals.
          else log.warn({ reason: String(error), file: file.guid }, 'could not renew the lease on a file');
        });
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

  /** Queues a file for inspection once it was uploaded; otherwise schedules the next poll or fails the file. */
  async function poll(file: FileRow): Promise<void> {
    const found = await storage.head(file.guid);
    const now = clock.now();
    if (found)
      return update(file, {
        ...{ uploaded_at: now, updated_at: now, next_look_at: now, pending_bytes: found.size },
        ...{ leased_by: null, upload_leased_by: null, upload_leased_until: null },
      });
    const next_look_at = pollSchedule.nextPollAt(file, now);
    if (next_look_at) await update(file, { next_look_at, leased_by: null });
    else await finish(file, { failureCode: 'upload_expired' });
  }

  /** Completes or fails the file. The content of a failed file is deleted. */
  async function finish(file: FileRow, { failureCode, size, sha256 }: InspectionResult): Promise<void> {
    const now = clock.now();
    const deleteAt = failureCode === 'upload_expired' ? later(now, LATE_CONTENT_MS) : now;
    const changes = {
      ...{ size: size ?? null, sha256: sha256 ?? null },
      ...{ next_look_at: null, leased_by: null, updated_at: now },
      ...(failureCode ? { failed_at: now, failure_code: failureCode } : { completed_at: now }),
    };
    await update(file, changes, async (transaction, row) => {
      await audit.record(transaction, systemActor, changeOf(failureCode ? 'fail' : 'complete', row));
      if (failureCode) await deletions.schedule(transaction, row.guid, deleteAt);
      if (failureCode === 'infected') await alerts.raise(transaction, [infectedAlertOf(row)]);
    });
    metrics.files.inc({ state: failureCode ? 'failed' : 'completed' });
    if (file.uploaded_at) metrics.fileSeconds.observe((now.getTime() - file.uploaded_at.getTime()) / 1_000);
    if (failureCode && deleteAt === now) await deletions.deleteNow(file.guid, deleteAt);
  }

  async function postpone(file: FileRow, error: unknown): Promise<void> {
    const now = clock.now();
    const waitedMs = now.getTime() - (file.uploaded_at ?? file.created_at).getTime();
    const retryMs = Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, waitedMs / 4));
    if (!stopping.aborted)
      log.warn({ err: error, file: file.guid }, 'processing of a file failed; will retry');
    const next_look_at = stopping.aborted ? now : later(now, retryMs);
    await update(file, { next_look_at, leased_by: null });
  }

  /**
   * Retries every failure later, except a lost lease, because the file then belongs to another node. A file of a frozen
   * Organization is claimed again when its lease has expired and the Organization is unfrozen.
   */
  async function attempt(file: FileRow, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await underLease(file, work).catch((error: unknown) => {
        if (isEnd(error)) throw error;
        return postpone(file, error);
      });
    } catch (error) {
      if (error instanceof LeaseLost) log.info({ file: file.guid }, 'lost the lease on a file');
      else if (error instanceof OrganizationFrozen)
        log.info({ file: file.guid }, 'left a file of a frozen Organization');
      else throw error;
    }
  }

  return {
    processContent: (file: FileRow) =>
      attempt(file, async (signal) => finish(file, await inspect(file, signal))),
    pollUpload: (file: FileRow) => attempt(file, () => poll(file)),
  };
}

function isEnd(error: unknown): boolean {
  return error instanceof LeaseLost || error instanceof OrganizationFrozen;
}

/** Without the file name, which often names a person. */
function infectedAlertOf(file: FileRow): NewAlert {
  return {
    ...{ type: 'file.infected', organizationGuid: file.organization_guid, environment: file.environment },
    details: { file_guid: file.guid, file_type: file.type, customer_guid: file.customer_guid },
  };
}
