import type { Database, Transaction } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import { type Clock, hasPassed } from '../../../infrastructure/runtime/clock.ts';
import { NIL_GUID } from '../../../infrastructure/runtime/guid.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../../infrastructure/runtime/metrics.ts';
import type { Endpoint, Subscriptions } from '../../subscriptions/service.ts';
import type { Delivery } from '../delivery.ts';
import { createdBefore, requeueBatches } from './batch-store.ts';
import { createEndedSubscriptions } from './ended-subscriptions.ts';
import { withFirstDelivery } from './first-deliveries.ts';
import { claimFirst } from './first-store.ts';
import type { Lanes } from './lanes/lanes.ts';
import type { Lease } from './lease.ts';
import { createPace } from './pace.ts';
import { claimDeliveries, releaseUntrackedLeases, selectWaiting, type Waiting } from './queue-store.ts';
import type { Releases } from './releases.ts';

/** Subscriptions of one statement. */
const PAGE = 200;
/** Deliveries of one subscription in one claim. */
const MAX_CLAIM = 500;
/** Of a walk over all waiting subscriptions. */
const WALK_PACE = { pausePerRun: 20, maxPauseMs: 10_000 };
/** Of reading the subscriptions with a lane, so that a change takes effect within a second. */
const REFRESH_PACE = { pausePerRun: 20, maxPauseMs: 1_000 };
const UNTRACKED_CHECK_EVERY_MS = 60_000;
/** By then every transaction that could deliver them to a lane has ended. */
const UNTRACKED_AFTER_MS = 60_000;

type Deps = {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  subscriptions: Subscriptions;
  lanes: Lanes;
  lease: Lease;
  releases: Pick<Releases, 'pendingGuids'>;
  accept(endpoint: Endpoint, deliveries: readonly Delivery[], holder: string): void;
};

/** Claims due deliveries from the queue into the lanes, up to the capacity of each. */
export function createClaims(deps: Deps) {
  const { database, clock, log, metrics, subscriptions, lanes, lease, releases, accept } = deps;
  const { queries } = database;
  const ended = createEndedSubscriptions({ database, clock, log, metrics, subscriptions });
  const walkPace = createPace(clock, WALK_PACE);
  const refreshPace = createPace(clock, REFRESH_PACE);
  let untrackedCheckedAt = clock.now().getTime();

  type Taken = { claimed: number; nextDueAt: Date | undefined };

  async function take(): Promise<Taken> {
    await releaseUntracked();
    const known = await refresh();
    const toRefill = new Set(lanes.toRefill());
    const refilled = await claimFor(known.filter(({ guid, delivers }) => delivers && toRefill.has(guid)));
    const pausedUntil = walkPace.pausedUntil();
    const walked = pausedUntil ? { claimed: 0, nextDueAt: pausedUntil } : await walkPace.run(walk);
    // Not part of the walk: the pause after it would grow with the backlogs of ended subscriptions.
    const { failed, nextAt } = await ended.failSome();
    return {
      claimed: refilled + walked.claimed + failed,
      nextDueAt: earlier(walked.nextDueAt, nextAt),
    };
  }

  /** Reads the subscriptions of lanes to refill and, unless that was recent, of all lanes with waiting deliveries. */
  async function refresh(): Promise<Endpoint[]> {
    const isRecent = refreshPace.pausedUntil() !== undefined;
    const guids = new Set([...lanes.toRefill(), ...(isRecent ? [] : lanes.waiting())]);
    const read = () => subscriptions.endpoints([...guids]);
    const known = await (isRecent ? read() : refreshPace.run(read));
    lanes.refresh(known);
    return known;
  }

  async function walk(): Promise<Taken> {
    let claimed = 0;
    let nextDueAt: Date | undefined;
    let page: Waiting[];
    let after = NIL_GUID;
    do {
      page = await database.transaction(async (transaction) => {
        await preferIndexes(transaction);
        return selectWaiting(transaction, { after, limit: PAGE, now: clock.now() });
      });
      claimed += await takeFrom(page);
      for (const { firstDueAt } of page)
        if (firstDueAt > clock.now() && (!nextDueAt || firstDueAt < nextDueAt)) nextDueAt = firstDueAt;
      after = page.at(-1)?.subscriptionGuid ?? after;
    } while (page.length === PAGE);
    return { claimed, nextDueAt };
  }

  async function takeFrom(page: readonly Waiting[]): Promise<number> {
    if (page.length === 0) return 0;
    const read = await subscriptions.endpoints(page.map(({ subscriptionGuid }) => subscriptionGuid));
    const endpoints = new Map(read.map((endpoint) => [endpoint.guid, endpoint]));
    const now = clock.now();
    const toClaim: Endpoint[] = [];
    for (const { subscriptionGuid, firstDueAt, firstScheduledAt } of page) {
      const endpoint = endpoints.get(subscriptionGuid);
      if (!endpoint?.delivers) {
        ended.add(subscriptionGuid);
        continue;
      }
      const { recoveredAt, paused } = endpoint;
      const isDue = firstDueAt <= now;
      const isEarly =
        recoveredAt !== undefined && firstScheduledAt !== null && firstScheduledAt < recoveredAt;
      if (isDue || isEarly) toClaim.push(endpoint);
      if (isDue && !paused) lanes.noteDue(endpoint);
    }
    return claimFor(toClaim);
  }

  async function claimFor(endpoints: readonly Endpoint[]): Promise<number> {
    const holder = lease.holder();
    if (holder === undefined) return 0;
    for (const endpoint of endpoints) if (endpoint.paused || endpoint.firstOnly) lanes.expectNone(endpoint);
    const sending = endpoints.filter(({ paused }) => !paused);
    const inactive = sending.filter(({ firstOnly }) => firstOnly);
    const firsts = await withFirstDelivery({ database, subscriptions, now: clock.now() }, inactive);
    const claimed = await claimInto(holder, firsts, 1, (transaction) =>
      claimFirst(transaction, {
        firsts: firsts.map(({ guid, firstOnly }) => ({ subscriptionGuid: guid, ...firstOnly })),
        ...{ holder, now: clock.now() },
      }),
    );
    const active = sending.filter(({ firstOnly }) => !firstOnly);
    return (
      claimed +
      (await claimInto(holder, active, MAX_CLAIM, (transaction, claims) => {
        const wanted = claims.map(({ endpoint, reserved }) => ({
          subscriptionGuid: endpoint.guid,
          limit: reserved,
          recoveredAt: endpoint.recoveredAt ?? null,
        }));
        return claimDeliveries(transaction, { claims: wanted, holder, now: clock.now() });
      }))
    );
  }

  type Reservation = { endpoint: Endpoint; reserved: number };

  async function claimInto(
    holder: string,
    endpoints: readonly Endpoint[],
    limit: number,
    claim: (transaction: Transaction, claims: readonly Reservation[]) => Promise<Delivery[]>,
  ): Promise<number> {
    const claims = endpoints
      .map((endpoint) => ({ endpoint, reserved: lanes.reserve(endpoint, limit) }))
      .filter(({ reserved }) => reserved > 0);
    if (claims.length === 0) return 0;
    let deliveries: Delivery[] = [];
    try {
      deliveries = await database.transaction(async (transaction) => {
        await preferIndexes(transaction);
        return claim(transaction, claims);
      });
    } catch (error) {
      for (const { endpoint, reserved } of claims) {
        lanes.unreserve(endpoint.guid, reserved);
        lanes.announce(endpoint);
      }
      throw error;
    }
    const bySubscription = Map.groupBy(deliveries, ({ subscriptionGuid }) => subscriptionGuid);
    for (const { endpoint, reserved } of claims) {
      const own = bySubscription.get(endpoint.guid) ?? [];
      lanes.unreserve(endpoint.guid, reserved - own.length);
      if (!endpoint.firstOnly) {
        const isFull = own.length === reserved;
        // Ordered by due time: an early delivery at the end means that no due one is left.
        lanes.noteClaim(endpoint, { isFull, isBehind: isFull && own.at(-1)?.isEarly !== true });
      }
      accept(endpoint, own, holder);
    }
    return deliveries.length;
  }

  /**
   * Releases deliveries leased to this dispatcher that are in no lane: after a claim whose response was lost, a commit
   * on a broken connection, or an outcome that could not be recorded.
   */
  async function releaseUntracked(): Promise<void> {
    const now = clock.now().getTime();
    const holder = lease.lastHolder();
    if (!hasPassed(UNTRACKED_CHECK_EVERY_MS, untrackedCheckedAt, now) || holder === undefined) return;
    untrackedCheckedAt = now;
    const takenBefore = new Date(now - UNTRACKED_AFTER_MS);
    const heldGuids = () => [...lanes.heldGuids(), ...releases.pendingGuids()];
    const released = await releaseUntrackedLeases(queries, holder, { held: heldGuids(), takenBefore });
    await database.transaction(async (transaction) => {
      await preferIndexes(transaction);
      await requeueBatches(transaction, createdBefore(holder, takenBefore), { holder, held: heldGuids() });
    });
    if (released > 0) log.warn({ deliveries: released }, 'requeued untracked deliveries');
  }

  return { take };
}

function earlier(a: Date | undefined, b: Date | undefined): Date | undefined {
  return a && b && b < a ? b : (a ?? b);
}
