import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import { type Storage, StorageError, StorageFull } from './storage.ts';

const RETRY_AFTER_SECONDS = 30;

/** What a caller is told when the storage cannot take content; other errors are bugs and go on. */
export function failureOfStorage(error: unknown, log: Log): Failure {
  if (!(error instanceof StorageError)) throw error;
  const wait = { retryAfterSeconds: RETRY_AFTER_SECONDS };
  if (error instanceof StorageFull) {
    log.warn({ reason: error.message }, 'refused a file: free disk space is low');
    return new Failure(
      'overloaded',
      'There is not enough space for files at the moment; try again later',
      wait,
    );
  }
  log.error({ err: error }, 'the storage of files cannot be used');
  return new Failure('storage_unavailable', 'Files cannot be stored at the moment; try again later', wait);
}

/** Why content of this size cannot be stored now; undefined when it can. */
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
