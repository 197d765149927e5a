import type { Database } from '../../../infrastructure/database/database.ts';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import { type Guids, NIL_GUID } from '../../../infrastructure/runtime/guid.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import * as store from './lease-store.ts';

/**
 * The lease of this dispatcher: one row, renewed every two seconds, that all its deliveries refer to. When the lease
 * expires, another dispatcher takes the deliveries over.
 */
export type Lease = ReturnType<typeof createLease>;

export const DISPATCHER_LEASE_MS = 10_000;
const RENEW_EVERY_MS = 2_000;
/** The holder stops sending this long before its lease expires. */
const LEASE_MARGIN_MS = 2_000;

type Deps = {
  database: Database;
  clock: Clock;
  timers: Timers;
  guids: Guids;
  log: Log;
  /** Another dispatcher has taken over. */
  onLost(): void;
  /** The lease had expired without a takeover. Runs before the holder sends again; it got no notice of changes meanwhile. */
  onExpired(): Promise<void>;
  onRenewed(): void;
};

export function createLease({ database, clock, timers, guids, log, onLost, onExpired, onRenewed }: Deps) {
  const queries = database.reserved;
  let holder: string | undefined;
  let leaseUntil = 0;
  let term = 0;
  let cancel = () => {};
  let renewing: Promise<void> | undefined;

  async function acquire(): Promise<void> {
    const guid = guids.next();
    const until = clock.now().getTime() + DISPATCHER_LEASE_MS;
    await store.insertDispatcher(queries, guid, new Date(until));
    holder = guid;
    leaseUntil = until;
    term += 1;
  }

  async function extend(): Promise<void> {
    if (holder === undefined) return;
    const until = clock.now().getTime() + DISPATCHER_LEASE_MS;
    const isExtended = await store.extendLease(queries, holder, new Date(until));
    // Also if it expired while the statement waited.
    const hadExpired = currentHolder() === undefined;
    // First, so that nothing of the last term is accepted during the next steps.
    if (hadExpired || !isExtended) term += 1;
    if (isExtended) {
      if (hadExpired) await onExpired();
      leaseUntil = until;
    } else {
      log.warn('lease lost; acquiring a new one');
      onLost();
      await acquire();
    }
    onRenewed();
    await takeOverExpired().catch((error: unknown) =>
      log.warn({ reason: String(error) }, 'takeover from expired dispatchers failed; retrying'),
    );
  }

  async function takeOverExpired(): Promise<void> {
    const released = await database.transaction(async (transaction) => {
      const dead = await store.deleteExpiredDispatchers(transaction, clock.now(), holder ?? NIL_GUID);
      return dead.length === 0 ? undefined : await store.releaseAll(transaction, dead);
    });
    if (released !== undefined) log.warn({ deliveries: released }, 'took over from an expired dispatcher');
  }

  function renew(): Promise<void> {
    renewing ??= extend()
      .catch((error: unknown) => log.warn({ reason: String(error) }, 'could not renew the lease'))
      .finally(() => {
        renewing = undefined;
      });
    return renewing;
  }

  function renewLater(): void {
    cancel = timers.after(RENEW_EVERY_MS, () => {
      void renew();
      renewLater();
    });
  }

  /** Undefined while the lease may have expired. */
  function currentHolder(): string | undefined {
    return clock.now().getTime() < leaseUntil - LEASE_MARGIN_MS ? holder : undefined;
  }

  return {
    async start(): Promise<void> {
      await acquire();
      await takeOverExpired();
      renewLater();
    },

    holder: currentHolder,

    /** Requeues the deliveries of other dispatchers whose lease has expired. Works without a lease of its own. */
    takeOverExpired,

    /**
     * Grows when the lease is acquired, lost or returned, and when it is renewed after it had expired. A change of an
     * endpoint is announced to valid leases only, so what was read in an earlier term may have changed without a notice.
     */
    term: () => term,

    /** The last holder, even if its lease has expired. */
    lastHolder: () => holder,

    /** Waits for a renewal in progress, whose takeover may add deliveries; then renews the lease if it has expired. */
    async ensure(): Promise<void> {
      await renewing;
      if (currentHolder() === undefined) await renew();
    },

    /** Releases all deliveries of this dispatcher. */
    async stop(): Promise<void> {
      cancel();
      await renewing;
      const guid = holder;
      if (guid === undefined) return;
      holder = undefined;
      term += 1;
      await database.transaction(async (transaction) => {
        await store.deleteDispatcher(transaction, guid);
        await store.releaseAll(transaction, [guid]);
      });
    },
  };
}
