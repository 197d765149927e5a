import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { FreezingDeps } from './freeze-steps.ts';
import { hasDeliveriesInProgress } from './freeze-store.ts';
import { selectOpenTransactions } from './rows-store.ts';

/** A request to an endpoint takes up to 10 seconds, and so does the takeover from a dispatcher that died. */
export const QUIET_WITHIN_MS = 30_000;
const POLL_MS = 50;

/** Waits until nothing of an Organization is in progress that began before. */
export function createQuiet({ database: { queries }, clock, dispatcher }: FreezingDeps) {
  /** Transactions that began before may not have seen the change. */
  async function openTransactionsEnd(): Promise<boolean> {
    const open = new Set(await selectOpenTransactions(queries));
    return isTrueInTime(clock, async () =>
      open.isDisjointFrom(new Set(await selectOpenTransactions(queries))),
    );
  }

  async function haveDeliveriesEnded(guid: string): Promise<boolean> {
    if (!(await hasDeliveriesInProgress(queries, guid))) return true;
    // No dispatcher may be running, for example on a restored backup whose webhooks must not be sent.
    await dispatcher.takeOverExpired();
    return false;
  }

  return {
    async isQuiet(guid: string): Promise<boolean> {
      if (!(await openTransactionsEnd())) return false;
      return isTrueInTime(clock, () => haveDeliveriesEnded(guid));
    },
  };
}

export async function isTrueInTime(clock: Clock, condition: () => Promise<boolean>): Promise<boolean> {
  const giveUpAt = clock.now().getTime() + QUIET_WITHIN_MS;
  for (; !(await condition()); await pause(POLL_MS)) if (clock.now().getTime() >= giveUpAt) return false;
  return true;
}
