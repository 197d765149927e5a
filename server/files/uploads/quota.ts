import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import { lockPending, type Pending, selectPending } from './pending-store.ts';

export type Quota = ReturnType<typeof createQuota>;

/** Files leave the quota when they are processed or expire, so a retry may soon succeed. */
const RETRY_AFTER_SECONDS = 30;

/** Limits the pending files of one Organization, so that it cannot fill the disk or delay others. */
export function createQuota({
  clock,
  maxFiles,
  maxBytes,
}: {
  clock: Clock;
  maxFiles: number;
  maxBytes: number;
}) {
  function refusalOf(pending: Pending, added: Pending): Failure | undefined {
    if (pending.files + added.files > maxFiles)
      return limitReached(`The Organization has reached its limit of ${maxFiles} files in state storing`);
    if (pending.bytes + added.bytes > maxBytes)
      return limitReached(
        `The Organization would exceed its limit of ${maxBytes} bytes in files in state storing`,
      );
    return undefined;
  }

  async function check(queries: Queries, organizationGuid: string, added: Pending) {
    // One more than the limit is enough to refuse, even when the setting was lowered below the current count.
    return refusalOf(await selectPending(queries, organizationGuid, clock.now(), maxFiles + 1), added);
  }

  return {
    /** Without a lock, to refuse before expensive work. */
    check,

    /** Under a lock: no other check of this Organization passes until the transaction ends. */
    async checkLocked(transaction: Transaction, organizationGuid: string, added: Pending) {
      await lockPending(transaction, organizationGuid);
      return check(transaction, organizationGuid, added);
    },
  };
}

function limitReached(reason: string): Failure {
  return new Failure(
    'pending_files_limit_reached',
    `${reason}; retry when some of them are completed or failed`,
    {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );
}
