import type { Readable } from 'node:stream';
import type { Freezes } from '../../credentials/organizations/freezes.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import type { Call } from '../../infrastructure/http/limits/calls-in-flight.ts';
import { type Clock, later, type Timers } from '../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import { LONGEST_UPLOAD_MS } from '../processing/poll-schedule.ts';
import { reclaim } from '../storage/reclaim.ts';
import type { ByteRange, PutResult, Storage, UploadTerms } from '../storage/storage.ts';
import { failureOfStorage, refusalForSpace } from '../storage/storage-failure.ts';
import * as store from '../store.ts';
import type { Quota } from './quota.ts';
import { keepUploadLease, UPLOAD_LEASE_MS, UploadLeaseLost } from './upload-lease.ts';

export type Uploads = ReturnType<typeof createUploads>;

/** A file does not expire while an upload may still be running: the server ends uploads after LONGEST_UPLOAD_MS. */
const EXPIRE_AFTER_MS = LONGEST_UPLOAD_MS + 60_000;
/** Retry-After of a second upload: the lease of an upload whose node died lasts this long. */
const IN_PROGRESS_RETRY_SECONDS = 15;

type Deps = {
  database: Database;
  storage: Storage;
  clock: Clock;
  timers: Timers;
  guids: Guids;
  log: Log;
  quota: Quota;
  freezes: Pick<Freezes, 'check'>;
  onUploaded(): void;
};

/** Uploads to and downloads from folder storage by signed links. */
export function createUploads(deps: Deps) {
  const { database, storage, clock, timers, guids, log, quota, freezes, onUploaded } = deps;
  const { queries } = database;

  /**
   * Leases the link and moves the expiry of the file past the longest time that this upload may take. Returns the
   * Organization.
   */
  async function begin(terms: UploadTerms, bytes: number, leasedBy: string): Promise<string | Failure> {
    const file = await store.selectLinkedFile(queries, terms.guid);
    if (!file || file.uploaded_at !== null || file.failed_at !== null) return refusalOf(file);
    return database.transaction(async (transaction) => {
      const frozen = await freezes.check(file.organization_guid, transaction);
      if (frozen) return frozen;
      // Before the quota, so that the second of two uploads gets upload_in_progress and not the quota's refusal.
      const now = clock.now();
      const leased = await store.updateFileIf(
        transaction,
        terms.guid,
        { awaitingUpload: true, uploadUnleasedAt: now },
        {
          ...{ upload_leased_by: leasedBy, upload_leased_until: later(now, UPLOAD_LEASE_MS) },
          ...{ leased_by: null, pending_bytes: null },
          next_look_at: latest(later(now, EXPIRE_AFTER_MS), terms.expiresAt),
        },
      );
      if (!leased) return refusalOf(await store.selectLinkedFile(transaction, terms.guid));
      const refused = await quota.checkLocked(transaction, file.organization_guid, { files: 0, bytes });
      if (refused) return refused;
      await store.updateFileIf(transaction, terms.guid, { awaitingUpload: true }, { pending_bytes: bytes });
      return file.organization_guid;
    });
  }

  /** Clears the processing lease too, so that a node that is about to expire the file loses it. */
  async function markUploaded(guid: string, owner: string): Promise<boolean | Failure> {
    const now = clock.now();
    const uploaded = await database.transaction(async (transaction) => {
      const frozen = await freezes.check(owner, transaction);
      if (frozen) return frozen;
      return store.updateFileIf(
        transaction,
        guid,
        { awaitingUpload: true },
        {
          ...{ uploaded_at: now, next_look_at: now, updated_at: now },
          ...{ leased_by: null, upload_leased_by: null, upload_leased_until: null },
        },
      );
    });
    if (isFailure(uploaded)) return uploaded;
    if (uploaded) onUploaded();
    return uploaded !== undefined;
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

  async function conclude(
    terms: UploadTerms,
    owner: string,
    result: PutResult | Failure,
  ): Promise<Failure | undefined> {
    if (result instanceof Failure) return result;
    if (result === 'too_large') return new Failure('payload_too_large', tooLargeMessage(terms));
    // Also for content that exists already: a crash may have prevented this before.
    const isFirst = await markUploaded(terms.guid, owner);
    if (isFailure(isFirst)) {
      // A poll that is about to mark the file as uploaded loses its lease.
      await store.updateFileIf(queries, terms.guid, { awaitingUpload: true }, { leased_by: null });
      const file = await store.selectLinkedFile(queries, terms.guid);
      // The content would not be moved with the Organization, unless a poll has found it before the freeze.
      if (!file || file.uploaded_at === null) await storage.delete(terms.guid);
      return isFirst;
    }
    if (result === 'exists') return completed();
    if (isFirst) return undefined;
    const file = await store.selectLinkedFile(queries, terms.guid);
    // A poll found the content first. If the file has failed meanwhile, the content is not needed any more.
    if (file && file.failed_at === null) return undefined;
    await storage.delete(terms.guid);
    return refusalOf(file);
  }

  return {
    /**
     * Throws the error of a source that was cut off. Nothing is stored then, and the link can be used again. `run` waits
     * for the Organization's turn with the database.
     */
    async receive(
      terms: UploadTerms,
      bytes: number,
      content: AsyncIterable<Uint8Array>,
      run: Call['run'],
    ): Promise<Failure | undefined> {
      const full = await refusalForSpace(storage, log, bytes);
      if (full) return full;
      const leasedBy = guids.next();
      const owner = await run(() => begin(terms, bytes, leasedBy));
      if (isFailure(owner)) return owner;
      const lease = keepUploadLease({ queries, clock, timers, log }, terms.guid, leasedBy);
      let hasArrived = false;
      try {
        const result = await put(terms, content, lease.check);
        // Without waiting for a turn: the content is stored, and only the holder of the lease gets here.
        const failure = await conclude(terms, owner, result);
        hasArrived = failure === undefined;
        return failure;
      } finally {
        if (hasArrived) await lease.stop();
        else await lease.release(latest(clock.now(), terms.expiresAt));
      }
    },

    async findCompleted(guid: string): Promise<{ size: number; sha256: string } | Failure> {
      const file = await store.selectLinkedFile(queries, guid);
      if (!file || file.completed_at === null || file.size === null || file.sha256 === null) return noFile();
      return { size: file.size, sha256: file.sha256 };
    },

    read: (guid: string, range?: ByteRange): Promise<Readable | undefined | Failure> =>
      storage.read(guid, range).catch((error: unknown) => failureOfStorage(error, log)),
  };
}

function refusalOf(file: store.FileRow | undefined): Failure {
  if (!file) return noFile();
  if (file.uploaded_at === null && file.failed_at === null)
    return new Failure('upload_in_progress', 'Another upload of this file is in progress', {
      retryAfterSeconds: IN_PROGRESS_RETRY_SECONDS,
    });
  if (file.failure_code === 'upload_expired')
    return new Failure('upload_expired', 'The upload URL has expired; create a new file');
  return completed();
}

function completed(): Failure {
  return new Failure('upload_completed', 'The content of this file has already been uploaded');
}

function noFile(): Failure {
  return new Failure('not_found', 'There is no such file');
}

export function tooLargeMessage({ maxBytes }: UploadTerms): string {
  return `The file must have at most ${maxBytes} bytes (Content-Length)`;
}

function latest(one: Date, other: Date): Date {
  return one > other ? one : other;
}
