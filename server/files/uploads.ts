import type { Database } from '../database/database.ts';
import type { Clock } from '../runtime/clock.ts';
import { Failure } from '../runtime/failure.ts';
import type { Log } from '../runtime/log.ts';
import { LONGEST_UPLOAD_MS, later } from './looks.ts';
import { reclaim } from './reclaim.ts';
import { type Storage, StorageError, type UploadTerms } from './storage/storage.ts';
import * as store from './store.ts';

export type Uploads = ReturnType<typeof createUploads>;

/** An upload is cut off when it has taken its time; only then the file is given up. */
const GIVE_UP_AFTER_MS = LONGEST_UPLOAD_MS + 60_000;

type Deps = { database: Database; storage: Storage; clock: Clock; log: Log; onArrival(): void };

/** Content that comes to the folder by a link, and goes out by one. */
export function createUploads({ database: { queries }, storage, clock, log, onArrival }: Deps) {
  /** From now on nobody gives the file up before this upload has had its time. */
  async function begin({ guid, expiresAt }: UploadTerms): Promise<Failure | undefined> {
    const until = later(clock.now(), GIVE_UP_AFTER_MS);
    const next_look_at = until > expiresAt ? until : expiresAt;
    const awaited = await store.updateAwaited(queries, guid, { next_look_at, leased_by: null });
    return awaited ? undefined : refusalOf(await store.selectLinkedFile(queries, guid));
  }

  /** Its lease with it: whoever was about to give the file up finds that it is no longer theirs. */
  async function arrive(guid: string): Promise<boolean> {
    const now = clock.now();
    const arrived = { uploaded_at: now, next_look_at: now, leased_by: null, updated_at: now };
    if (!(await store.updateAwaited(queries, guid, arrived))) return false;
    onArrival();
    return true;
  }

  async function put(terms: UploadTerms, content: AsyncIterable<Uint8Array>) {
    try {
      return await storage.put(terms.guid, content, { ...terms, onWritten: reclaim });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      log.error({ err: error }, 'the storage of files cannot be used');
      return new Failure('storage_unavailable', 'Files cannot be stored at the moment; try again later');
    }
  }

  return {
    /** Throws what the source throws: cut off, nothing stays, and the link is still good. */
    async receive(terms: UploadTerms, content: AsyncIterable<Uint8Array>): Promise<Failure | undefined> {
      const refused = await begin(terms);
      if (refused) return refused;
      const result = await put(terms, content);
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
