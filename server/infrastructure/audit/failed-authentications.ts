import { setImmediate } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import type { Clock } from '../runtime/clock.ts';
import type { FailureCode } from '../runtime/failure.ts';
import type { Log } from '../runtime/log.ts';
import { createMergedRecords } from './merged.ts';
import { type Audit, anonymousActor } from './service.ts';

/**
 * Records failed logins, wrong client secrets and wrong operator tokens in the audit log, merged per minute. Unknown
 * email addresses and client_ids are not recorded, because people paste secrets into the wrong field.
 */
export type FailedAuthentications = ReturnType<typeof createFailedAuthentications>;

/** The account or application of the attempt, and the Organizations whose audit log shows the failure. */
export type FailedSubject = { id: string; organizationGuids: readonly string[] };

type Failed = {
  objectType: 'application' | 'account' | 'operator';
  reason: FailureCode;
  path: string;
  address: string | undefined;
  requestId: string;
};

const UNKNOWN: FailedSubject = { id: 'unknown', organizationGuids: [] };
/** Concurrent lookups; a failure beyond this limit is recorded for an unknown subject. */
const MAX_LOOKUPS = 100;

export function createFailedAuthentications(deps: {
  database: Database;
  audit: Audit;
  clock: Clock;
  log: Log;
}) {
  const records = createMergedRecords(deps);
  const lookups = new Set<Promise<void>>();

  function record(
    { objectType, reason, path, address, requestId }: Failed,
    { id, ...owner }: FailedSubject,
  ): void {
    records.note({
      ...owner,
      group: `${objectType} ${id}`,
      source: `${address} ${reason}`,
      actor: { ...anonymousActor, address, requestId },
      change: { action: 'authentication.fail', objectType, objectId: id, changes: { reason, path } },
    });
  }

  return {
    /**
     * `find` looks up the subject. It runs after the response: `setImmediate` lets the request finish first, so that
     * the response time does not reveal whether the subject exists.
     */
    note(failed: Failed, find: () => Promise<FailedSubject | undefined>): void {
      if (lookups.size >= MAX_LOOKUPS) {
        record(failed, UNKNOWN);
        return;
      }
      const lookup = setImmediate()
        .then(find)
        .catch((error: unknown) => {
          deps.log.warn({ err: error }, 'lookup for a failed authentication failed');
          return undefined;
        })
        .then((found) => record(failed, found ?? UNKNOWN))
        .finally(() => lookups.delete(lookup));
      lookups.add(lookup);
    },

    async flush(options: { all?: boolean } = {}): Promise<void> {
      await Promise.all(lookups);
      await records.flush(options);
    },
  };
}
