import type { Database } from '../../../infrastructure/database/database.ts';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import type { Guids } from '../../../infrastructure/runtime/guid.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import * as store from './lease-store.ts';

/**
 * One row tells that this dispatcher lives, and everything that it holds names that row: one small update every two
 * seconds keeps any number of deliveries. When it stops coming, the others take its deliveries.
 */
export type Lease = ReturnType<typeof createLease>;

const DISPATCHER_LEASE_MS = 10_000;
const RENEW_EVERY_MS = 2_000;
/** So much earlier the holder itself stops relying on it. */
const LEASE_MARGIN_MS = 2_000;

type Deps = {
  database: Database;
  clock: Clock;
  timers: Timers;
  guids: Guids;
  log: Log;
  /** Others have taken over what this dispatcher held. */
  onLost(): void;
  onRenewed(): void;
};

export function createLease({ database, clock, timers, guids, log, onLost, onRenewed }: Deps) {
  const queries = database.reserved;
  let holder: string | undefined;
  let leaseUntil = 0;
  let cancel = () => {};
  let renewing: Promise<void> | undefined;

  async function acquire(): Promise<void> {
    const guid = guids.next();
    const until = clock.now().getTime() + DISPATCHER_LEASE_MS;
    await store.insertDispatcher(queries, guid, new Date(until));
    holder = guid;
    leaseUntil = until;
  }

  async function extend(): Promise<void> {
    if (holder === undefined) return;
    const until = clock.now().getTime() + DISPATCHER_LEASE_MS;
    if (await store.extendLease(queries, holder, new Date(until))) leaseUntil = until;
    else {
      log.warn('this dispatcher was taken for dead; it starts again with nothing');
      onLost();
      await acquire();
    }
    onRenewed();
    await releaseDead(holder).catch((error: unknown) =>
      log.warn({ reason: String(error) }, 'takeover from expired dispatchers failed; retrying'),
    );
  }

  async function releaseDead(self: string): Promise<void> {
    const released = await database.transaction(async (transaction) => {
      const dead = await store.deleteExpiredDispatchers(transaction, clock.now(), self);
      return dead.length === 0 ? undefined : await store.releaseAll(transaction, dead);
    });
    if (released !== undefined)
      log.warn({ deliveries: released }, 'took over from a dispatcher that is gone');
  }

  function renew(): Promise<void> {
    renewing ??= extend()
      .catch((error: unknown) => log.warn({ reason: String(error) }, 'the lease could not be renewed'))
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

  /** The name under which deliveries may be taken now; undefined while it is not certain that others know of it. */
  function currentHolder(): string | undefined {
    return clock.now().getTime() < leaseUntil - LEASE_MARGIN_MS ? holder : undefined;
  }

  return {
    async start(): Promise<void> {
      await acquire();
      await releaseDead(holder as string);
      renewLater();
    },

    holder: currentHolder,

    /** The name under which they were taken. */
    lastHolder: () => holder,

    /** A renewal that is under way is over, and with it what it takes from the dead. */
    renewed: (): Promise<void> => renewing ?? Promise.resolve(),

    /** Renews what has run out; a renewal that was under way already may have begun too early to count. */
    async ensure(): Promise<void> {
      if (currentHolder() === undefined) await renew();
      if (currentHolder() === undefined) await renew();
    },

    /** Gives everything back. */
    async stop(): Promise<void> {
      cancel();
      await renewing;
      const guid = holder;
      if (guid === undefined) return;
      holder = undefined;
      await database.transaction(async (transaction) => {
        await store.deleteDispatcher(transaction, guid);
        await store.releaseAll(transaction, [guid]);
      });
    },
  };
}
