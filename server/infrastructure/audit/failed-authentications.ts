import { setImmediate } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import type { Clock } from '../runtime/clock.ts';
import type { FailureCode } from '../runtime/failure.ts';
import type { Log } from '../runtime/log.ts';
import { createMergedRecords } from './merged.ts';
import { type Audit, anonymousActor } from './service.ts';

/**
 * Failed logins, wrong client secrets and wrong operator tokens in the audit record, merged by the minute. An address or
 * a client_id that nobody has is not recorded: people paste secrets into the wrong field.
 */
export type FailedAuthentications = ReturnType<typeof createFailedAuthentications>;

/** What was being authenticated, if it exists, and in whose audit record the failure is shown. */
export type FailedSubject = { id: string; organizationGuids: readonly string[] };

type Failed = {
  objectType: 'application' | 'account' | 'operator';
  reason: FailureCode;
  path: string;
  address: string | undefined;
  requestId: string;
};

const UNKNOWN: FailedSubject = { id: 'unknown', organizationGuids: [] };
/** Look-ups under way at once; a failure beyond them is recorded as one of something unknown. */
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
     * `find` tells what was attacked. It runs after the answer: `setImmediate` lets everything that the request still
     * has to do come first, so that the response time does not show whether there is anything to look up.
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
