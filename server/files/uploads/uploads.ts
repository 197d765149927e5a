import type { Database } from '../../infrastructure/database/database.ts';
import type { Clock, Timers } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import { LONGEST_UPLOAD_MS, later } from '../processing/poll-schedule.ts';
import { reclaim } from '../storage/reclaim.ts';
import type { PutResult, Storage, UploadTerms } from '../storage/storage.ts';
import { failureOfStorage, refusalForSpace } from '../storage/storage-failure.ts';
import * as store from '../store.ts';
import type { Quota } from './quota.ts';
import { keepUploadLease, UPLOAD_LEASE_MS, UploadLeaseLost } from './upload-lease.ts';

export type Uploads = ReturnType<typeof createUploads>;

/** An upload is cut off when it has taken its time; only then the file is given up. */
const GIVE_UP_AFTER_MS = LONGEST_UPLOAD_MS + 60_000;
/** For a second upload on a link: about as long as the lease of one whose node died. */
const IN_PROGRESS_RETRY_SECONDS = 15;

type Deps = {
  database: Database;
  storage: Storage;
  clock: Clock;
  timers: Timers;
  guids: Guids;
  log: Log;
  quota: Quota;
  onArrival(): void;
};

/** Content that comes to the folder by a link, and goes out by one. */
export function createUploads(deps: Deps) {
  const { database, storage, clock, timers, guids, log, quota, onArrival } = deps;
  const { queries } = database;

  /** Takes the lease of the link, and from now on nobody gives the file up before this upload has had its time. */
  async function begin(terms: UploadTerms, bytes: number, leasedBy: string): Promise<Failure | undefined> {
    const file = await store.selectLinkedFile(queries, terms.guid);
    if (!file || file.uploaded_at !== null || file.failed_at !== null) return refusalOf(file);
    return database.transaction(async (transaction) => {
      // Before the quota: of two uploads at once the second is told of the first, not of its bytes.
      const now = clock.now();
      const leased = await store.leaseUpload(transaction, terms.guid, now, {
        ...{ upload_leased_by: leasedBy, upload_leased_until: later(now, UPLOAD_LEASE_MS), leased_by: null },
        next_look_at: latest(later(now, GIVE_UP_AFTER_MS), terms.expiresAt),
        pending_bytes: null,
      });
      if (!leased) return refusalOf(await store.selectLinkedFile(transaction, terms.guid));
      const refused = await quota.checkAlone(transaction, file.organization_guid, { files: 0, bytes });
      if (refused) return refused;
      await store.updateAwaited(transaction, terms.guid, { pending_bytes: bytes });
      return undefined;
    });
  }

  /** Its lease with it: whoever was about to give the file up finds that it is no longer theirs. */
  async function arrive(guid: string): Promise<boolean> {
    const now = clock.now();
    const arrived = { uploaded_at: now, next_look_at: now, leased_by: null, updated_at: now };
    const unleased = { upload_leased_by: null, upload_leased_until: null };
    if (!(await store.updateAwaited(queries, guid, { ...arrived, ...unleased }))) return false;
    onArrival();
    return true;
  }

  async function put(
    terms: UploadTerms,
    content: AsyncIterable<Uint8Array>,
    beforeWrite: () => void,
  ): Promise<PutResult | Failure> {
    try {
      return await storage.put(terms.guid, content, { ...terms, beforeWrite, onWritten: reclaim });
    } catch (error) {
      if (error instanceof UploadLeaseLost)
        return refusalOf(await store.selectLinkedFile(queries, terms.guid));
      return failureOfStorage(error, log);
    }
  }

  async function conclude(terms: UploadTerms, result: PutResult | Failure): Promise<Failure | undefined> {
    if (result instanceof Failure) return result;
    if (result === 'too_large')
      return new Failure('payload_too_large', `The upload URL takes at most ${terms.maxBytes} bytes`);
    // Also of what was there before: a crash may have kept its arrival from being told.
    const isFirst = await arrive(terms.guid);
    if (result === 'exists') return completed();
    if (isFirst) return undefined;
    const file = await store.selectLinkedFile(queries, terms.guid);
    // Noticed by somebody who looked in between; or given up, or ended by another upload that was no good and is
    // gone: then nobody waits for this one any more.
    if (file && file.failed_at === null) return undefined;
    await storage.remove(terms.guid);
    return refusalOf(file);
  }

  return {
    /** Throws what the source throws: cut off, nothing stays, and the link is free again. */
    async receive(
      terms: UploadTerms,
      bytes: number,
      content: AsyncIterable<Uint8Array>,
    ): Promise<Failure | undefined> {
      const full = await refusalForSpace(storage, log, bytes);
      if (full) return full;
      const leasedBy = guids.next();
      const refused = await begin(terms, bytes, leasedBy);
      if (refused) return refused;
      const lease = keepUploadLease({ queries, clock, timers, log }, terms.guid, leasedBy);
      let hasArrived = false;
      try {
        const failure = await conclude(terms, await put(terms, content, lease.check));
        hasArrived = failure === undefined;
        return failure;
      } finally {
        if (hasArrived) await lease.stop();
        else await lease.release(latest(clock.now(), terms.expiresAt));
      }
    },

    /** What a link to its content may hand out. */
    async findCompleted(guid: string): Promise<{ size: number; sha256: string } | Failure> {
      const file = await store.selectLinkedFile(queries, guid);
      if (!file || file.completed_at === null || file.size === null || file.sha256 === null) return noFile();
      return { size: file.size, sha256: file.sha256 };
    },

    read: storage.read,
  };
}

function refusalOf(file: store.FileRow | undefined): Failure {
  if (!file) return noFile();
  if (file.uploaded_at === null && file.failed_at === null)
    return new Failure('upload_in_progress', 'Another upload of this file is under way', {
      retryAfterSeconds: IN_PROGRESS_RETRY_SECONDS,
    });
  if (file.failure_code === 'upload_expired')
    return new Failure('upload_expired', 'The upload URL has expired; create the file again');
  return completed();
}

function completed(): Failure {
  return new Failure('upload_completed', 'The content of this file was uploaded before');
}

function noFile(): Failure {
  return new Failure('not_found', 'There is no such file');
}

function latest(one: Date, other: Date): Date {
  return one > other ? one : other;
}
