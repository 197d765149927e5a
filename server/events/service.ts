import type { Transaction } from '../database/database.ts';
import type { EnvironmentName } from '../database/tables.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Guids } from '../runtime/guid.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { EventType } from './catalogue.ts';
import { insertEvents } from './store.ts';

export type NewEvent = {
  organizationGuid: string;
  bankGuid?: string | undefined;
  eventType: EventType;
  objectGuid: string;
  environment: EnvironmentName;
};

export type Events = ReturnType<typeof createEvents>;

export function createEvents({ clock, guids, metrics }: { clock: Clock; guids: Guids; metrics: Metrics }) {
  return {
    /** In the transaction of the change: nothing is announced that did not commit, nothing commits unannounced. */
    async publish(transaction: Transaction, events: readonly NewEvent[]): Promise<void> {
      if (events.length === 0) return;
      const createdAt = clock.now();
      await insertEvents(
        transaction,
        events.map((event) => ({
          guid: guids.next(),
          organization_guid: event.organizationGuid,
          bank_guid: event.bankGuid ?? null,
          event_type: event.eventType,
          object_guid: event.objectGuid,
          environment: event.environment,
          created_at: createdAt,
        })),
      );
      for (const event of events) metrics.eventsPublished.inc({ event_type: event.eventType });
    },
  };
}
