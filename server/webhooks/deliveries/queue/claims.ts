import type { Database, Transaction } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import { setBounded } from '../../../infrastructure/runtime/bounded-map.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../../infrastructure/runtime/metrics.ts';
import type { Receiver, Subscriptions } from '../../subscriptions/service.ts';
import type { Delivery } from '../delivery.ts';
import { dissolveConsignments, madeBefore } from './batch-store.ts';
import { withFirstDelivery } from './first-deliveries.ts';
import { claimFirst } from './first-store.ts';
import type { Lanes } from './lanes/lanes.ts';
import type { Lease } from './lease.ts';
import { claimDeliveries, failWaiting, releaseAllBut, selectWaiting, type Waiting } from './queue-store.ts';

/** Subscriptions looked at in one statement. */
const PAGE = 200;
/** Asked of the database at once for one subscription. */
const MAX_CLAIM = 500;
const MAX_FAILED_AT_ONCE = 1_000;
/**
 * A walk over the subscriptions is followed by a pause of so many times its length, up to a limit: with a thousand
 * subscriptions waiting it takes tens of milliseconds, and others send in the meantime.
 */
const PAUSE_PER_WALK = 20;
const MAX_PAUSE_MS = 10_000;
/** So is reading the subscriptions for which something is held: a change of one is noticed a second later at most. */
const MAX_REFRESH_PAUSE_MS = 1_000;
const STRAYS_EVERY_MS = 60_000;
/** By then every transaction that could still bring them has ended. */
const STRAYS_AFTER_MS = 60_000;
/** Endpoints of which it is remembered that they are drained. */
const MAX_DRAINED = 10_000;
const FIRST_GUID = '0'.repeat(32);

type Deps = {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  subscriptions: Subscriptions;
  lanes: Lanes;
  lease: Lease;
};

/** Takes what is due from the queue into the lanes, as far as there is room in each. */
export function createClaims({ database, clock, log, metrics, subscriptions, lanes, lease }: Deps) {
  const { queries } = database;
  let walkAgainAt = 0;
  let refreshAgainAt = 0;
  let lookForStraysAt = clock.now().getTime() + STRAYS_EVERY_MS;
  /** The recovery of each endpoint from which nothing is left to be sent ahead of its time. */
  const drained = new Map<string, number>();

  async function take(): Promise<{ claimed: number; nextDueAt: Date | undefined }> {
    await releaseStrays();
    const known = await refresh();
    const hungry = new Set(lanes.hungry());
    const refilled = await claimFor(known.filter(({ guid, delivers }) => delivers && hungry.has(guid)));
    // With very many subscriptions waiting the walk takes long, and pauses in proportion.
    const startedAt = clock.now().getTime();
    if (startedAt < walkAgainAt && walkAgainAt <= startedAt + MAX_PAUSE_MS)
      return { claimed: refilled, nextDueAt: new Date(walkAgainAt) };
    const { claimed, nextDueAt } = await walk();
    walkAgainAt = pauseAfter(startedAt, MAX_PAUSE_MS);
    return { claimed: refilled + claimed, nextDueAt };
  }

  /** Reads the subscriptions that are to be claimed for and, unless that was a moment ago, all that lanes hold for. */
  async function refresh(): Promise<Receiver[]> {
    const startedAt = clock.now().getTime();
    const isRecent = startedAt < refreshAgainAt && refreshAgainAt <= startedAt + MAX_REFRESH_PAUSE_MS;
    const guids = new Set([...lanes.hungry(), ...(isRecent ? [] : lanes.waiting())]);
    const known = await subscriptions.receivers([...guids]);
    if (!isRecent) refreshAgainAt = pauseAfter(startedAt, MAX_REFRESH_PAUSE_MS);
    lanes.refresh(known);
    return known;
  }

  function pauseAfter(startedAt: number, maxMs: number): number {
    const endedAt = clock.now().getTime();
    return endedAt + Math.min(maxMs, PAUSE_PER_WALK * (endedAt - startedAt));
  }

  async function walk(): Promise<{ claimed: number; nextDueAt: Date | undefined }> {
    let claimed = 0;
    let nextDueAt: Date | undefined;
    let page: Waiting[];
    let after = FIRST_GUID;
    do {
      page = await database.transaction(async (transaction) => {
        await preferIndexes(transaction);
        return selectWaiting(transaction, after, PAGE);
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
    const receivers = await subscriptions.receivers(page.map(({ subscriptionGuid }) => subscriptionGuid));
    const now = clock.now();
    const firstDueAt = new Map(page.map((entry) => [entry.subscriptionGuid, entry.firstDueAt]));
    const mayBeDue = receivers.filter(
      (receiver) =>
        receiver.delivers && (!isDrained(receiver) || (firstDueAt.get(receiver.guid) ?? now) <= now),
    );
    for (const receiver of mayBeDue)
      if ((firstDueAt.get(receiver.guid) ?? now) <= now) lanes.noteDue(receiver);
    let taken = await claimFor(mayBeDue);
    const delivering = new Set(receivers.filter(({ delivers }) => delivers).map(({ guid }) => guid));
    for (const { subscriptionGuid } of page)
      if (!delivering.has(subscriptionGuid)) taken += await failSome(subscriptionGuid);
    return taken;
  }

  async function claimFor(receivers: readonly Receiver[]): Promise<number> {
    const holder = lease.holder();
    if (holder === undefined) return 0;
    const inactive = receivers.filter(({ firstOnly }) => firstOnly);
    for (const receiver of inactive) lanes.expectNone(receiver);
    const firsts = await withFirstDelivery({ database, subscriptions, now: clock.now() }, inactive);
    const claimed = await claimInto(firsts, 1, (transaction) =>
      claimFirst(transaction, {
        firsts: firsts.map(({ guid, firstOnly }) => ({ subscriptionGuid: guid, ...firstOnly })),
        ...{ holder, now: clock.now() },
      }),
    );
    const active = receivers.filter(({ firstOnly }) => !firstOnly);
    return (
      claimed +
      (await claimInto(active, MAX_CLAIM, (transaction, claims) => {
        const wanted = claims.map(({ receiver, room }) => ({
          subscriptionGuid: receiver.guid,
          room,
          recoveredAt: isDrained(receiver) ? null : (receiver.recoveredAt ?? null),
        }));
        return claimDeliveries(transaction, { claims: wanted, holder, now: clock.now() });
      }))
    );
  }

  type Room = { receiver: Receiver; room: number };

  async function claimInto(
    receivers: readonly Receiver[],
    limit: number,
    claim: (transaction: Transaction, claims: readonly Room[]) => Promise<Delivery[]>,
  ): Promise<number> {
    const claims = receivers
      .map((receiver) => ({ receiver, room: lanes.reserve(receiver, limit) }))
      .filter(({ room }) => room > 0);
    if (claims.length === 0) return 0;
    let deliveries: Delivery[] = [];
    try {
      deliveries = await database.transaction(async (transaction) => {
        await preferIndexes(transaction);
        return claim(transaction, claims);
      });
    } catch (error) {
      for (const { receiver, room } of claims) {
        lanes.unreserve(receiver.guid, room);
        lanes.announce(receiver);
      }
      throw error;
    }
    const bySubscription = Map.groupBy(deliveries, ({ subscriptionGuid }) => subscriptionGuid);
    for (const { receiver, room } of claims) {
      const own = bySubscription.get(receiver.guid) ?? [];
      lanes.unreserve(receiver.guid, room - own.length);
      if (!receiver.firstOnly) {
        const isFull = own.length === room;
        // In the order of their due moments: one that is early means that nothing due is left.
        lanes.noteClaim(receiver, { isFull, isBehind: isFull && own.at(-1)?.isEarly !== true });
      }
      lanes.add(receiver, own);
      if (receiver.recoveredAt && own.length < room)
        setBounded(drained, receiver.guid, receiver.recoveredAt.getTime(), MAX_DRAINED);
    }
    return deliveries.length;
  }

  /**
   * Nothing waits that could be sent ahead of its time. Without this every claim would look through all that the
   * endpoint has waiting, for as long as it is healthy.
   */
  function isDrained({ guid, recoveredAt }: Receiver): boolean {
    return recoveredAt === undefined || drained.get(guid) === recoveredAt.getTime();
  }

  /**
   * What is leased in our name and in no lane goes back: a claim whose answer was lost, a transaction that committed
   * after its connection broke, an outcome that could not be recorded.
   */
  async function releaseStrays(): Promise<void> {
    const now = clock.now().getTime();
    const holder = lease.lastHolder();
    if (now < lookForStraysAt || holder === undefined) return;
    lookForStraysAt = now + STRAYS_EVERY_MS;
    const takenBefore = new Date(now - STRAYS_AFTER_MS);
    const released = await releaseAllBut(queries, holder, { held: lanes.heldGuids(), takenBefore });
    await database.transaction(async (transaction) => {
      await preferIndexes(transaction);
      const held = lanes.heldGuids();
      await dissolveConsignments(transaction, madeBefore(holder, takenBefore), { holder, held });
    });
    if (released > 0) log.warn({ deliveries: released }, 'deliveries that nobody was sending went back');
  }

  /** Its subscription is failed, disabled or gone: retries are prevented. One batch a round, for others wait too. */
  async function failSome(subscriptionGuid: string): Promise<number> {
    const failed = await database.transaction(async (transaction) => {
      await preferIndexes(transaction);
      return failWaiting(transaction, subscriptionGuid, { at: clock.now(), limit: MAX_FAILED_AT_ONCE });
    });
    if (failed > 0)
      log.info({ subscription_guid: subscriptionGuid, deliveries: failed }, 'deliveries given up');
    metrics.deliveries.inc({ state: 'failed' }, failed);
    return failed;
  }

  return { take };
}
