import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import { lockPending, type Pending, selectPending } from './pending-store.ts';

export type Quota = ReturnType<typeof createQuota>;

/** Files leave the quota as they are processed or expire, so a refused caller may try again soon. */
const RETRY_AFTER_SECONDS = 30;

/** What one Organization may have pending, so that it fills neither the disk nor the queue of the others. */
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
      return limitReached(
        `The Organization has ${maxFiles} files that are still storing, which is its limit`,
      );
    if (pending.bytes + added.bytes > maxBytes)
      return limitReached(
        `The Organization may have at most ${maxBytes} bytes in files that are still storing`,
      );
    return undefined;
  }

  async function check(queries: Queries, organizationGuid: string, added: Pending) {
    // At the limit of files the count stops: a lowered setting may leave more of them than it allows.
    return refusalOf(await selectPending(queries, organizationGuid, clock.now(), maxFiles + 1), added);
  }

  return {
    /** Without a lock, before work that would be in vain. */
    check,

    /** For sure: no other check of this Organization passes until the transaction ends. */
    async checkAlone(transaction: Transaction, organizationGuid: string, added: Pending) {
      await lockPending(transaction, organizationGuid);
      return check(transaction, organizationGuid, added);
    },
  };
}

function limitReached(what: string): Failure {
  return new Failure('pending_files_limit_reached', `${what}; wait until some are completed or have failed`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
