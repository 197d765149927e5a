import type { Clock, Timers } from '../../runtime/clock.ts';
import { Failure } from '../../runtime/failure.ts';
import { FailureError } from '../errors.ts';

/**
 * Limits the calls of one Organization, or of one member, in one process. A few run at a time and others wait, so that one
 * Organization cannot use all database connections; calls beyond the waiting limit are rejected.
 */
export type CallsInFlight = ReturnType<typeof createCallsInFlight>;

/** One call, from its admission until its response is sent or its connection is closed. */
export type Call = {
  /**
   * Runs the work when the Organization has a free slot, and fails once the call is closed. Nested work runs in the slot of
   * the outer one.
   */
  run<T>(work: () => T | Promise<T>): Promise<T>;
  /** Within `run`. */
  runApart: RunApart;
  /** The connection no longer needs the call; it stays counted until its work has ended. */
  close(): void;
};

/**
 * Runs work that waits for another service in slots of their own, so that other calls of the Organization do not wait with
 * it. Its steps that use the database run by `inSlot`, in the slots for all calls.
 */
export type RunApart = <T>(work: (inSlot: InSlot) => Promise<T>) => Promise<T>;
export type InSlot = <T>(step: () => Promise<T>) => Promise<T>;

/** For work outside of a call, which uses no slots. */
export const inPlace: InSlot = (step) => step();
export const runInPlace: RunApart = (work) => work(inPlace);

/** Lists read more rows than other calls, so fewer of them run at once. */
export type Kind = 'list' | 'other';
type Owner = 'Organization' | 'customer' | 'member';
type Turns = { max: number; manyWaiting: number; running: number; waiting: Set<() => void> };
type Share = { calls: number; idle: PromiseWithResolvers<void>; apart: Turns } & Record<Kind, Turns>;

const RETRY_AFTER_SECONDS = 1;
/**
 * With more waiting lists than this, an Organization's lists run one at a time, each followed by a pause as long as the
 * list took. Without the pause they keep the processors busy and slow down other Organizations (`bench/tenants.ts`).
 */
export const MANY_WAITING_LISTS = 32;
const MAX_PAUSE_MS = 2_000;
/** A client that waits longer has usually timed out. */
export const MAX_WAIT_MS = 20_000;
/** A customer token gets a tenth of its Organization's limits, so that one device cannot block all others. */
const CUSTOMER_SHARE = 10;

export function limitOfCustomer(limitOfOrganization: number): number {
  return Math.max(1, Math.floor(limitOfOrganization / CUSTOMER_SHARE));
}

export function createCallsInFlight({
  maxInFlight,
  maxRunning,
  clock,
  timers,
  owner = 'Organization',
}: {
  maxInFlight: number;
  maxRunning: Record<Kind, number>;
  clock: Clock;
  timers: Timers;
  /** Whose calls share a limit. */
  owner?: Owner;
}) {
  const shares = new Map<string, Share>();
  const maxOfCustomer = limitOfCustomer(maxInFlight);
  const callsOfCustomers = new Map<string, number>();

  function shareOf(ownerGuid: string): Share {
    const known = shares.get(ownerGuid);
    if (known) return known;
    const idle = Promise.withResolvers<void>();
    const share = { calls: 0, idle, list: turnsOf('list'), other: turnsOf('other'), apart: turnsOf('other') };
    shares.set(ownerGuid, share);
    return share;
  }

  function turnsOf(kind: Kind): Turns {
    const manyWaiting = kind === 'list' ? MANY_WAITING_LISTS : Number.POSITIVE_INFINITY;
    return { max: maxRunning[kind], manyWaiting, running: 0, waiting: new Set() };
  }

  function countOfCustomer(guid: string | undefined, change: 1 | -1): void {
    if (guid === undefined) return;
    const calls = (callsOfCustomers.get(guid) ?? 0) + change;
    if (calls === 0) callsOfCustomers.delete(guid);
    else callsOfCustomers.set(guid, calls);
  }

  /** Undefined when a slot is free at once. */
  function takeTurn(turns: Turns): Promise<void> | undefined {
    if (turns.running < turns.max && turns.waiting.size === 0) {
      turns.running += 1;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const cancel = timers.after(MAX_WAIT_MS, () => {
        turns.waiting.delete(start);
        reject(new FailureError(waitedTooLong(owner)));
      });
      const start = () => {
        cancel();
        resolve();
      };
      turns.waiting.add(start);
    });
  }

  /** Passes the slot to the calls that have waited longest; after a pause when many lists wait. */
  function passTurn(turns: Turns, tookMs: number): void {
    const pauseMs = Math.min(tookMs, MAX_PAUSE_MS);
    if (hasManyWaiting(turns) && pauseMs > 0) timers.after(pauseMs, () => startWaiting(turns));
    else startWaiting(turns);
  }

  /** Returns the function that passes a slot on, which has an effect once. */
  function hold(turns: Turns): () => void {
    const startedAt = clock.now().getTime();
    let isHeld = true;
    return () => {
      if (isHeld) passTurn(turns, clock.now().getTime() - startedAt);
      isHeld = false;
    };
  }

  async function inTurn<T>(turns: Turns, work: () => Promise<T>): Promise<T> {
    await takeTurn(turns);
    const pass = hold(turns);
    return work().finally(pass);
  }

  function startWaiting(turns: Turns): void {
    turns.running -= 1;
    while (turns.running < (hasManyWaiting(turns) ? 1 : turns.max)) {
      const [next] = turns.waiting;
      if (!next) return;
      turns.waiting.delete(next);
      turns.running += 1;
      next();
    }
  }

  return {
    /** `customerGuid` is set for customer tokens. */
    enter(ownerGuid: string, kind: Kind, customerGuid?: string): Call | Failure {
      if (customerGuid !== undefined && (callsOfCustomers.get(customerGuid) ?? 0) >= maxOfCustomer)
        return tooMany(maxOfCustomer, 'customer');
      const share = shareOf(ownerGuid);
      if (share.calls >= maxInFlight) return tooMany(maxInFlight, owner);
      share.calls += 1;
      countOfCustomer(customerGuid, 1);
      let isClosed = false;
      let isLeft = false;
      let works = 0;
      let passSlot = () => {};

      function leave(): void {
        if (!isClosed || works > 0 || isLeft) return;
        isLeft = true;
        share.calls -= 1;
        countOfCustomer(customerGuid, -1);
        if (share.calls > 0) return;
        shares.delete(ownerGuid);
        share.idle.resolve();
      }

      function stopWaiting(error: unknown): never {
        works -= 1;
        leave();
        throw error;
      }

      return {
        async run(work) {
          if (works > 0) return work();
          // It no longer counts, so its work would not either.
          if (isLeft) throw new FailureError(hungUp());
          works += 1;
          const turn = takeTurn(share[kind]);
          if (turn) await turn.catch(stopWaiting);
          passSlot = hold(share[kind]);
          try {
            // The client closed the connection while the call was waiting.
            if (turn && isClosed) throw new FailureError(hungUp());
            return await work();
          } finally {
            works -= 1;
            passSlot();
            leave();
          }
        },
        runApart(work) {
          passSlot();
          return inTurn(share.apart, async () => {
            if (isClosed) throw new FailureError(hungUp());
            return work((step) => inTurn(share[kind], step));
          });
        },
        close() {
          isClosed = true;
          leave();
        },
      };
    },

    /** Resolves when the Organization has no calls in flight. */
    whenIdle: (organizationGuid: string) => shares.get(organizationGuid)?.idle.promise ?? Promise.resolve(),

    /** Organizations and customers with calls in flight. */
    size: () => shares.size + callsOfCustomers.size,
  };
}

function hasManyWaiting({ waiting, manyWaiting }: Turns): boolean {
  return waiting.size > manyWaiting;
}

/** The dashboard's rate limits have the code of the token endpoints. */
function tooMany(maxInFlight: number, owner: Owner): Failure {
  return new Failure(
    owner === 'member' ? 'rate_limit_exceeded' : 'api_rate_limit_exceeded',
    `More than ${maxInFlight} calls of this ${owner} are in flight; wait for responses before sending more`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

function waitedTooLong(owner: Owner): Failure {
  return new Failure('overloaded', `Too many calls of this ${owner} are waiting; try again later`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function hungUp(): Failure {
  return new Failure('overloaded', 'The connection was closed before the call was processed', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
