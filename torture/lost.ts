import type { Arrival, Endpoint } from './receivers.ts';
import { type Sent, stateOf, TRANSFER_EVENTS } from './sent.ts';

/**
 * Accepted events that an endpoint of their Organization did not answer with 2xx. A call that was acknowledged was
 * accepted, and so was one of unknown fate whose event arrived anywhere, even if that request was answered with an error:
 * only stored events are sent, and they are stored together with the deliveries to all endpoints.
 */
export function findLost(sent: Sent, endpoints: readonly Endpoint[], arrivals: readonly Arrival[]): string[] {
  const endpointsOf = Map.groupBy(endpoints, ({ organizationGuid }) => organizationGuid);
  const pathsOf = (organization: string) => (endpointsOf.get(organization) ?? []).map(({ path }) => path);
  const received = arrivals.filter(({ status }) => status < 300);
  const guids = new Set(received.map(({ path, event }) => `${path} ${event.guid}`));
  const states = new Set(received.map(({ path, event }) => stateOf(path, event)));

  const arrived = new Set(arrivals.map(({ event }) => event.guid));
  const expected = sent.events
    .filter(({ fate, guid }) => fate === 'acknowledged' || arrived.has(guid))
    .flatMap((event) => pathsOf(event.organization_guid).map((path) => `${path} ${event.guid}`));
  const expectedStates = [...acceptedTransfers(sent, arrivals)].flatMap(([guid, organization]) =>
    pathsOf(organization).flatMap((path) =>
      TRANSFER_EVENTS.map((type) => stateOf(path, { event_type: type, object_guid: guid })),
    ),
  );
  return [
    ...expected.filter((key) => !guids.has(key)),
    ...expectedStates.filter((state) => !states.has(state)),
  ];
}

/** The Organization of each. */
function acceptedTransfers({ events, transfers }: Sent, arrivals: readonly Arrival[]): Map<string, string> {
  const posted = new Set(events.map(({ guid }) => guid));
  const accepted = new Map(
    arrivals
      .filter(({ event }) => TRANSFER_EVENTS.includes(event.event_type) && !posted.has(event.guid))
      .map(({ event }) => [event.object_guid, event.organization_guid]),
  );
  for (const { guid, organizationGuid } of transfers)
    if (guid !== undefined) accepted.set(guid, organizationGuid);
  return accepted;
}
