import { hash } from 'node:crypto';
import type { Arrival, EventBody } from './receivers.ts';

/**
 * Arrivals with other bytes than the event was posted with; for an event that the sandbox created, with other bytes than
 * the first arrival of its guid. Those answered with an error count, too: the promise covers every attempt.
 */
export function findAltered(posted: ReadonlyMap<string, EventBody>, arrivals: readonly Arrival[]): string[] {
  const byGuid = Map.groupBy(arrivals, ({ event }) => event.guid);
  return [...byGuid].flatMap(([guid, attempts]) => {
    const original = posted.get(guid);
    const expected = original ? hash('sha256', bodyOf(original)) : attempts[0]?.sha256;
    return attempts.filter(({ sha256 }) => sha256 !== expected).map(({ path }) => `${path} ${guid}`);
  });
}

/** Written out instead of imported from the server, so that a change of its fields or their order is found. */
export function bodyOf(event: EventBody): string {
  return JSON.stringify({
    guid: event.guid,
    organization_guid: event.organization_guid,
    bank_guid: event.bank_guid,
    event_type: event.event_type,
    object_guid: event.object_guid,
    environment: event.environment,
  });
}
