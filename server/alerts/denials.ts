import type { Database } from '../infrastructure/database/database.ts';
import { setBounded } from '../infrastructure/runtime/bounded-map.ts';
import type { Clock } from '../infrastructure/runtime/clock.ts';
import type { Log } from '../infrastructure/runtime/log.ts';
import type { Alerts } from './service.ts';

export type DenialAlerts = ReturnType<typeof createDenialAlerts>;

/** Keys that this process remembers as denied today. */
const MAX_REMEMBERED_KEYS = 10_000;
/** Alerts that are being written; further ones wait for the next denied call of their key. */
const MAX_WRITING = 20;

type Denial = {
  clientId: string;
  organizationGuid: string;
  address: string | undefined;
  requestId: string;
};
type Deps = {
  database: Database;
  clock: Clock;
  log: Log;
  alerts: Alerts;
  namesOf(organizationGuid: string, clientIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
};

/**
 * Alerts about calls from outside an allowlist: the first of a key and day (UTC). A process tries once per key and day
 * and the occurrence is unique, so that a flood of denied calls writes nothing.
 */
export function createDenialAlerts({ database, clock, log, alerts, namesOf }: Deps) {
  const days = new Map<string, string>();
  const writing = new Set<Promise<void>>();

  async function write({ clientId, organizationGuid, address, requestId }: Denial, day: string) {
    const name = (await namesOf(organizationGuid, [clientId])).get(clientId);
    await database.transaction((transaction) =>
      alerts.raise(transaction, [
        {
          type: 'access.denied',
          organizationGuid,
          occurrence: `denied ${clientId} ${day}`,
          details: {
            ...{ client_id: clientId, ...(name === undefined ? {} : { name }) },
            ...{ ...(address === undefined ? {} : { address }), request_id: requestId },
          },
        },
      ]),
    );
  }

  return {
    /** Returns at once; the write follows off the path of the request. */
    note(denial: Denial): void {
      const day = clock.now().toISOString().slice(0, 10);
      if (days.get(denial.clientId) === day || writing.size >= MAX_WRITING) return;
      setBounded(days, denial.clientId, day, MAX_REMEMBERED_KEYS);
      const written = write(denial, day)
        .catch((error: unknown) => {
          days.delete(denial.clientId);
          log.warn({ err: error }, 'raising an alert about denied calls failed');
        })
        .finally(() => writing.delete(written));
      writing.add(written);
    },

    async idle(): Promise<void> {
      await Promise.all(writing);
    },
  };
}
