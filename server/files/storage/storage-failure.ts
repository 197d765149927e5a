import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import { type Storage, StorageError, StorageFull } from './storage.ts';

const RETRY_AFTER_SECONDS = 30;

/** The failure to return when the storage cannot store or read content. Other errors are bugs and are rethrown. */
export function failureOfStorage(error: unknown, log: Log): Failure {
  if (!(error instanceof StorageError)) throw error;
  const wait = { retryAfterSeconds: RETRY_AFTER_SECONDS };
  if (error instanceof StorageFull) {
    log.warn({ reason: error.message }, 'refused a file: free disk space is low');
    return new Failure('overloaded', 'Not enough storage space; try again later', wait);
  }
  log.error({ err: error }, 'file storage failed');
  return new Failure('storage_unavailable', 'File storage is unavailable; try again later', wait);
}

/** Undefined when the storage has space for so many bytes. */
export async function refusalForSpace(
  storage: Storage,
  log: Log,
  bytes: number,
): Promise<Failure | undefined> {
  try {
    await storage.requireSpace(bytes);
    return undefined;
  } catch (error) {
    return failureOfStorage(error, log);
  }
}
