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
  endedAt: number | undefined;
  succeeded: boolean;
  retryAfterMs: number;
};

type Trouble = { node: string; from: number; to: number; what: string };

export class Violation extends Error {}

/** After a trouble, leases expire and clients time out for this long. */
const TROUBLE_GRACE_MS = 30_000;

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
    keyOf,
    byUrl: (url: string) => subscriptions.find((each) => each.url === url),
    byGuid: (guid: string) => subscriptions.find((each) => each.guid === guid),
    send(sent: Sent): Request {
      const request: Request = {
        ...sent,
        ...{ number: requests.length + 1, endedAt: undefined, succeeded: false, retryAfterMs: 0 },
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
    /** Whether the node had a trouble that reaches into the interval. */
    hadTrouble: (node: string, from: number, to: number) =>
      troubles.some((each) => each.node === node && each.from <= to && each.to + TROUBLE_GRACE_MS >= from),
    anyTrouble: (from: number, to: number) =>
      troubles.some((each) => each.from <= to && each.to + TROUBLE_GRACE_MS >= from),
    /** A killed node troubles the others only until its lease has expired. */
    lastTroubleEnd: () =>
      troubles.reduce((latest, { from, to }) => Math.max(latest, Number.isFinite(to) ? to : from), 0),
    check(isTrue: boolean, what: () => string): void {
      checks += 1;
      if (!isTrue) throw new Violation(what());
    },
    checks: () => checks,
  };
}
