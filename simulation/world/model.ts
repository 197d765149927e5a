import type { Owner } from '../machine/scheduler.ts';
import type { Sent } from '../network/sender.ts';

export type Tenant = { organizationGuid: string; environment: 'sandbox' | 'production'; bankGuid: string };

/** What the simulation knows by itself: calls and their answers, requests, and the troubles of nodes. */
export type ModelEvent = {
  guid: string;
  organizationGuid: string;
  environment: string;
  /** The bytes that every request must have. */
  body: string;
  calledAt: number;
  acknowledgedAt: number | undefined;
  /** The end of the last call that reported it. */
  settledAt: number;
};

export type ModelSubscription = {
  url: string;
  organizationGuid: string;
  environment: string;
  calledAt: number;
  /** Undefined while the answer is unknown. */
  guid: string | undefined;
  signingKey: string | undefined;
  createdAt: number | undefined;
  /** Intervals in which it must not receive: disabled or paused, from the answer to the call that ends it. */
  stops: { from: number; to: number }[];
  /** Times at which waiting deliveries may have become due at once. */
  resumedAt: number[];
  deletionCalledAt: number | undefined;
  /** From the answer, by the clock of the node that answered. */
  deletionAt: number | undefined;
};

export type Request = Sent & {
  number: number;
  /** Under which the node holds the delivery. */
  lease: string | undefined;
  endedAt: number | undefined;
  succeeded: boolean;
  retryAfterMs: number;
};

type Trouble = { node: string; from: number; to: number; what: string };

export class Violation extends Error {}

/** A client notices after this time that its connections are silent. */
const SILENCE_AFTERMATH_MS = 45_000;
/** The server ends a transaction whose client is gone after 15 s; a statement waits for its locks as long at most. */
const LOCKS_AFTERMATH_MS = 30_000;

export type Model = ReturnType<typeof createModel>;

export function createModel() {
  const events = new Map<string, ModelEvent>();
  const subscriptions: ModelSubscription[] = [];
  const requests: Request[] = [];
  const requestsOf = new Map<string, Request[]>();
  const troubles: Trouble[] = [];
  /** `url event` → times at which a person asked for another delivery. */
  const redeliveries = new Map<string, number[]>();
  const faults = new Map<string, number>();
  /** Requests after a success. */
  const duplicates = new Set<Request>();
  /** By their leases: the nodes that dispatch. */
  const holders = new Map<string, Owner>();
  /** By URL: since when each look at the tables found a due delivery that no dispatcher has claimed. */
  const claimableSince = new Map<string, number>();
  let checks = 0;

  const keyOf = (url: string, eventGuid: string) => `${url} ${eventGuid}`;

  return {
    events,
    subscriptions,
    requests,
    requestsOf,
    troubles,
    redeliveries,
    faults,
    duplicates,
    holders,
    claimableSince,
    keyOf,
    byUrl: (url: string) => subscriptions.find((each) => each.url === url),
    byGuid: (guid: string) => subscriptions.find((each) => each.guid === guid),
    send(sent: Sent, lease: string | undefined): Request {
      const request: Request = {
        ...sent,
        ...{ lease, number: requests.length + 1, endedAt: undefined, succeeded: false, retryAfterMs: 0 },
      };
      requests.push(request);
      const key = keyOf(sent.url, sent.eventGuid);
      const known = requestsOf.get(key);
      if (known) known.push(request);
      else requestsOf.set(key, [request]);
      return request;
    },
    redeliver(url: string, eventGuid: string, at: number): void {
      const key = keyOf(url, eventGuid);
      redeliveries.set(key, [...(redeliveries.get(key) ?? []), at]);
    },
    trouble(node: string, from: number, ms: number, what: string): void {
      troubles.push({ node, from, to: from + ms, what });
      faults.set(what, (faults.get(what) ?? 0) + 1);
    },
    /** No node had a trouble in the interval, or holds locks since an earlier one. */
    wasUndisturbed: (from: number, to: number) =>
      !troubles.some((each) => {
        const endsAt = Number.isFinite(each.to) ? each.to : each.from;
        const aftermathMs = each.what === 'silence' ? SILENCE_AFTERMATH_MS : LOCKS_AFTERMATH_MS;
        return each.from <= to && endsAt + aftermathMs >= from;
      }),
    /** A killed node troubles the others only until its lease has expired. */
    lastTroubleEnd: () =>
      troubles.reduce((latest, { from, to, what }) => {
        const endsAt = what === 'silence' ? to + SILENCE_AFTERMATH_MS : to;
        return Math.max(latest, Number.isFinite(endsAt) ? endsAt : from);
      }, 0),
    check(isTrue: boolean, what: () => string): void {
      checks += 1;
      if (!isTrue) throw new Violation(what());
    },
    checks: () => checks,
  };
}
