import type { FilePlan } from '../agenda/part-actions.ts';
import type { ObjectType } from '../agenda/paths.ts';
import { timeOf } from '../machine/guids.ts';
import type { Owner } from '../machine/scheduler.ts';
import type { Sent } from '../network/sender.ts';

export type Tenant = { organizationGuid: string; environment: 'sandbox' | 'production'; bankGuid: string };

/** The state that the simulation tracks itself: calls and their answers, requests, and the faults of nodes. */
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

/** The six fields of its body, in their order. */
export type StoredEvent = {
  guid: string;
  organization_guid: string;
  bank_guid: string;
  event_type: string;
  object_guid: string;
  environment: string;
};

export type ModelSubscription = {
  /** The last one that a node has confirmed. */
  url: string;
  /** All that it may have had, the first one first. */
  urls: string[];
  /** URLs that it had, until the answer to the change. */
  left: Map<string, number>;
  isMoving: boolean;
  organizationGuid: string;
  environment: string;
  calledAt: number;
  /** Undefined while the answer is unknown. */
  guid: string | undefined;
  signingKey: string | undefined;
  createdAt: number | undefined;
  /** Intervals in which it must not receive: disabled or paused, from the answer to the call that ends it. */
  stops: { from: number; to: number }[];
  /** Whether a call to disable or pause it was made, whatever its answer. */
  mayHaveStopped: boolean;
  /** The last call that ends a stop, and its answer. */
  restartedAt: number;
  /** Intervals in which waiting deliveries may have become due at once. */
  resumptions: { from: number; to: number }[];
  /** Calls after which its failures so far do not count. */
  restarts: { from: number; to: number; isSure: boolean }[];
  /** From the answer on. */
  protectedAt: number | undefined;
  deletionCalledAt: number | undefined;
  /** From the answer, by the clock of the node that answered. */
  deletionAt: number | undefined;
};

/** An object that the simulator of the nodes moves to its ending. */
export type ModelObject = {
  guid: string;
  type: ObjectType;
  ending: string;
  /** From the call on; `answered` if it was accepted. */
  deletion: 'none' | 'called' | 'answered';
};

export type ModelFile = {
  guid: string;
  plan: FilePlan;
  createdAt: number;
  /** The contents that a caller has sent, by SHA-256; true if the upload was accepted. */
  sent: Map<string, boolean>;
  deletion: 'none' | 'called' | 'answered';
};

export type Request = Sent & {
  number: number;
  /** Under which the node holds the delivery. */
  lease: string | undefined;
  endedAt: number | undefined;
  succeeded: boolean;
  retryAfterMs: number;
};

type Fault = { node: string; from: number; to: number; what: string };

/** Waiting deliveries may become due at once, until the returned function is called. */
export function startResumption({ resumptions }: ModelSubscription, now: () => number): () => void {
  const resumption = { from: now(), to: Number.POSITIVE_INFINITY };
  resumptions.push(resumption);
  return () => {
    resumption.to = now();
  };
}

export class Violation extends Error {}

/** A client notices after this time that its connections are silent. */
const SILENCE_AFTERMATH_MS = 45_000;
/** The server ends a transaction whose client is gone after 15 s; a statement waits for its locks as long at most. */
const LOCKS_AFTERMATH_MS = 30_000;
/** After a fault, leases expire and clients time out for this long. */
const FAULT_GRACE_MS = 30_000;
/** Guids and deliveries have the clocks of their nodes. */
const WINDOW_GRACE_MS = 5_000;

export type Model = ReturnType<typeof createModel>;

export function createModel() {
  const tenants: Tenant[] = [];
  const events = new Map<string, ModelEvent>();
  const subscriptions: ModelSubscription[] = [];
  const objects: ModelObject[] = [];
  const files: ModelFile[] = [];
  /** Organizations from which a feature was taken away. */
  const withdrawn = new Set<string>();
  const requests: Request[] = [];
  const requestsOf = new Map<string, Request[]>();
  const faults: Fault[] = [];
  const clockErrors: { from: number; to: number; ms: number }[] = [];
  /** Requests of people for other deliveries: of one event, or of all events since a time. */
  const redeliveries: { key: string; at: number }[] = [];
  const windows: { url: string; since: number; at: number }[] = [];
  const faultCounts = new Map<string, number>();
  /** Requests after a success. */
  const duplicates = new Set<Request>();
  /** By their leases: the nodes that dispatch. */
  const holders = new Map<string, Owner>();
  /** By URL: since when each look at the tables found a due delivery that no dispatcher has claimed. */
  const claimableSince = new Map<string, number>();
  let checks = 0;
  /** The last time at which the events of objects were read. */
  let lookedAt = 0;

  const byUrl = (url: string) => subscriptions.find(({ urls }) => urls.includes(url));
  /** A changed URL is the same subscription. */
  const keyOf = (url: string, eventGuid: string) => `${byUrl(url)?.urls[0] ?? url} ${eventGuid}`;

  return {
    tenants,
    events,
    subscriptions,
    objects,
    files,
    withdrawn,
    requests,
    requestsOf,
    faults,
    faultCounts,
    duplicates,
    holders,
    claimableSince,
    keyOf,
    byUrl,
    byGuid: (guid: string) => subscriptions.find((each) => each.guid === guid),
    /** An event of the service itself, which was committed since the last look. */
    adopt(event: StoredEvent, now: number): void {
      const { guid, organization_guid: organizationGuid, environment } = event;
      if (events.has(guid)) return;
      events.set(guid, {
        ...{ guid, organizationGuid, environment, body: JSON.stringify(event) },
        ...{ calledAt: lookedAt, acknowledgedAt: now, settledAt: now },
      });
    },
    look(at: number): void {
      lookedAt = at;
    },
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
      redeliveries.push({ key: keyOf(url, eventGuid), at });
    },
    /** Returns a function for a call that was refused. */
    redeliverSince(url: string, since: number, at: number): () => void {
      const window = { url, since, at };
      windows.push(window);
      return () => void windows.splice(windows.indexOf(window), 1);
    },
    /** How many other deliveries of the event were requested up to this time. */
    requestedDeliveries(url: string, eventGuid: string, until: number): number {
      const key = keyOf(url, eventGuid);
      return (
        redeliveries.filter((each) => each.key === key && each.at <= until).length +
        windows.filter(
          (each) =>
            keyOf(each.url, eventGuid) === key &&
            timeOf(eventGuid) >= each.since - WINDOW_GRACE_MS &&
            timeOf(eventGuid) <= each.at + WINDOW_GRACE_MS &&
            each.at <= until,
        ).length
      );
    },
    recordFault(node: string, from: number, ms: number, what: string): void {
      faults.push({ node, from, to: from + ms, what });
      faultCounts.set(what, (faultCounts.get(what) ?? 0) + 1);
    },
    /** No node had a fault in the interval, or holds locks since an earlier one. */
    wasUndisturbed: (from: number, to: number) =>
      !faults.some((each) => {
        const endsAt = Number.isFinite(each.to) ? each.to : each.from;
        const aftermathMs = each.what === 'silence' ? SILENCE_AFTERMATH_MS : LOCKS_AFTERMATH_MS;
        return each.from <= to && endsAt + aftermathMs >= from;
      }),
    /** A killed node disturbs the others only until its lease has expired. */
    lastFaultEnd: () =>
      faults.reduce((latest, { from, to, what }) => {
        const endsAt = what === 'silence' ? to + SILENCE_AFTERMATH_MS : to;
        return Math.max(latest, Number.isFinite(endsAt) ? endsAt : from);
      }, 0),
    /** The clock of a node is wrong by so much for a while. */
    setClockWrong(node: string, from: number, { ms, forMs }: { ms: number; forMs: number }): void {
      clockErrors.push({ from, to: from + forMs, ms: Math.abs(ms) });
      this.recordFault(node, from, forMs, 'clock');
    },
    /** The largest error of a clock in the interval, by which times may be early or late. */
    clockErrorMs: (from: number, to: number) =>
      Math.max(0, ...clockErrors.filter((each) => each.from <= to && each.to >= from).map(({ ms }) => ms)),
    /** Whether the node had a fault that reaches into the interval. */
    hadFault: (node: string, from: number, to: number) =>
      faults.some((each) => each.node === node && each.from <= to && each.to + FAULT_GRACE_MS >= from),
    /** A fault that is not of one node. */
    count(what: string): void {
      faultCounts.set(what, (faultCounts.get(what) ?? 0) + 1);
    },
    check(isTrue: boolean, what: () => string): void {
      checks += 1;
      if (!isTrue) throw new Violation(what());
    },
    checks: () => checks,
  };
}
