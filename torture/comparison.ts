import { findAltered } from './content.ts';
import { findLost } from './lost.ts';
import type { Arrival, Endpoint } from './receivers.ts';
import { type Sent, type SentEvent, stateOf, TRANSFER_EVENTS } from './sent.ts';

export type Duplicate = { path: string; guid: string; first: number; again: number };
export type Comparison = {
  /** Accepted, and not received by an endpoint of its Organization. */
  lost: string[];
  /** Received and answered with 2xx more than once by one endpoint. */
  duplicates: Duplicate[];
  /** Events of another Organization. */
  misrouted: string[];
  forged: string[];
  /** Attempts with other bytes than were sent, or than another attempt had. */
  altered: string[];
  /** Never sent, or an event of a transfer that exists twice. */
  unexpected: string[];
  /** Of unknown fate, and received by at least one endpoint. */
  unknownReceived: number;
  received: number;
};

export function compare(
  sent: Sent,
  endpoints: readonly Endpoint[],
  arrivals: readonly Arrival[],
): Comparison {
  const owners = new Map(endpoints.map(({ path, organizationGuid }) => [path, organizationGuid]));
  const pathsOf = Map.groupBy(endpoints, ({ organizationGuid }) => organizationGuid);
  const received = Map.groupBy(
    arrivals.filter(({ status }) => status < 300),
    ({ path, event }) => `${path} ${event.guid}`,
  );
  const kept = [...received.values()].map(([first]) => first as Arrival);
  const states = Map.groupBy(kept, ({ path, event }) => stateOf(path, event));
  const posted = new Map(sent.events.map((event) => [event.guid, event]));

  return {
    lost: findLost(sent, endpoints, arrivals),
    duplicates: [...received.values()].flatMap(duplicatesIn),
    misrouted: arrivals
      .filter(({ path, event }) => owners.get(path) !== event.organization_guid)
      .map(({ path, event }) => `${path} ${event.guid}`),
    forged: arrivals.filter(({ isGenuine }) => !isGenuine).map(({ path, event }) => `${path} ${event.guid}`),
    altered: findAltered(posted, arrivals),
    unexpected: [...unexpectedIn(sent, posted, kept), ...repeatedStates(posted, states)],
    unknownReceived: sent.events.filter(
      ({ fate, guid, organization_guid }) =>
        fate === 'unknown' &&
        pathsOf.get(organization_guid)?.some(({ path }) => received.has(`${path} ${guid}`)),
    ).length,
    received: kept.length,
  };
}

function duplicatesIn(arrivals: readonly Arrival[]): Duplicate[] {
  return arrivals.slice(1).map(({ path, event, at }, index) => ({
    ...{ path, guid: event.guid },
    first: (arrivals[index] as Arrival).at,
    again: at,
  }));
}

/** Calls of unknown fate may have created a transfer each, but not more. */
function unexpectedIn(
  { transfers }: Sent,
  posted: ReadonlyMap<string, SentEvent>,
  kept: readonly Arrival[],
): string[] {
  const known = new Set(transfers.map(({ guid }) => guid));
  const others = kept.filter(
    ({ event }) =>
      !posted.has(event.guid) &&
      !known.has(event.object_guid) &&
      !event.event_type.startsWith('subscription.'),
  );
  const strangers = others.filter(({ event }) => !TRANSFER_EVENTS.includes(event.event_type));
  const objects = new Set(
    others.filter((other) => !strangers.includes(other)).map(({ event }) => event.object_guid),
  );
  const possible = transfers.filter(({ fate }) => fate === 'unknown').length;
  return [
    ...strangers.map(({ path, event }) => `${path} ${event.event_type} ${event.guid}`),
    ...(objects.size > possible ? [`${objects.size} transfers for ${possible} calls of unknown fate`] : []),
  ];
}

/** A transfer enters each state once: a second event for the same state means that the work was done twice. */
function repeatedStates(
  posted: ReadonlyMap<string, SentEvent>,
  states: ReadonlyMap<string, readonly Arrival[]>,
): string[] {
  return [...states]
    .filter(([, [first, ...more]]) => first && !posted.has(first.event.guid) && more.length > 0)
    .map(([state]) => `${state} twice`);
}
