import { setTimeout as pause } from 'node:timers/promises';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Base } from '../../infrastructure/base.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Revocations } from '../../tokens/revoking/revocations.ts';
import * as store from './freeze-store.ts';
import { selectOpenTransactions } from './rows-store.ts';

export type FreezingDeps = Base & {
  revocations: Revocations;
  dispatcher: { announceChange(subscriptionGuid: string): Promise<void> };
};

/** A request to an endpoint takes up to 10 seconds, and so does the takeover from a dispatcher that died. */
const QUIET_WITHIN_MS = 30_000;
const POLL_MS = 50;

/**
 * Freezes an Organization: every node refuses its calls, no dispatcher sends its deliveries, the simulator leaves its
 * objects. Sending stops first, while calls are still accepted, because requests in flight may take seconds.
 */
export function createFreezing({ database, clock, audit, log, revocations, dispatcher }: FreezingDeps) {
  const { queries } = database;

  async function isTrueInTime(condition: () => Promise<boolean>): Promise<boolean> {
    const giveUpAt = clock.now().getTime() + QUIET_WITHIN_MS;
    for (; !(await condition()); await pause(POLL_MS)) if (clock.now().getTime() >= giveUpAt) return false;
    return true;
  }

  /** Transactions that began before may not have seen the change. */
  async function openTransactionsEnd(): Promise<boolean> {
    const open = new Set(await selectOpenTransactions(queries));
    return isTrueInTime(async () => open.isDisjointFrom(new Set(await selectOpenTransactions(queries))));
  }

  async function isQuiet(guid: string): Promise<boolean> {
    if (!(await openTransactionsEnd())) return false;
    return isTrueInTime(async () => !(await store.hasDeliveriesInProgress(queries, guid)));
  }

  async function announce(subscriptionGuids: readonly string[]): Promise<void> {
    await Promise.all(subscriptionGuids.map(dispatcher.announceChange));
  }

  /** Returns the changed Organization once every node knows it. */
  async function change(
    guid: string,
    update: (transaction: Transaction, current: store.Organization) => Promise<store.Organization | Failure>,
  ): Promise<store.Organization | Failure> {
    let revision: number | undefined;
    const changed = await database.transaction(async (transaction) => {
      const current = await store.lockOrganization(transaction, guid);
      if (!current) return notFound();
      const updated = await update(transaction, current);
      if (!isFailure(updated)) revision = await revocations.revoke(transaction, 'freeze', guid);
      return updated;
    });
    if (!isFailure(changed)) await revocations.propagate(revision);
    return changed;
  }

  function record(transaction: Transaction, actor: Actor, guid: string, action: 'freeze' | 'unfreeze') {
    return audit.record(transaction, actor, {
      action: `organization.${action}`,
      ...{ organizationGuid: guid, objectType: 'organization', objectId: guid },
    });
  }

  async function stopSending(guid: string): Promise<{ wasFrozen: boolean } | Failure> {
    const stopped = await database.transaction(async (transaction) => {
      const current = await store.lockOrganization(transaction, guid);
      if (!current) return notFound();
      const subscriptions = await store.updateSubscriptions(transaction, guid, true);
      return { wasFrozen: current.frozen_at !== null, subscriptions };
    });
    if (!isFailure(stopped)) await announce(stopped.subscriptions);
    return stopped;
  }

  /** Safe to repeat. Nothing of the Organization changes after it has returned. */
  async function freeze(actor: Actor, guid: string): Promise<store.Organization | Failure> {
    const startedAt = clock.now();
    const stopped = await stopSending(guid);
    if (isFailure(stopped)) return stopped;
    const frozen = (await isQuiet(guid)) ? await setFrozen(actor, guid) : undefined;
    if (isFailure(frozen)) return frozen;
    if (frozen && (await isQuiet(guid))) {
      const ms = clock.now().getTime() - startedAt.getTime();
      log.info({ organization_guid: guid, ms }, 'froze an Organization');
      return frozen;
    }
    // A frozen Organization may be active in another installation by now.
    if (stopped.wasFrozen) return busy('it stays frozen');
    await unfreeze(actor, guid);
    return busy('it was not frozen');
  }

  function setFrozen(actor: Actor, guid: string): Promise<store.Organization | Failure> {
    return change(guid, async (transaction, current) => {
      if (current.frozen_at !== null) return current;
      await record(transaction, actor, guid, 'freeze');
      // For subscriptions that were created meanwhile.
      await store.updateSubscriptions(transaction, guid, true);
      return store.updateOrganization(transaction, guid, { frozen_at: clock.now() });
    });
  }

  async function unfreeze(actor: Actor, guid: string): Promise<store.Organization | Failure> {
    let resumed: string[] = [];
    const unfrozen = await change(guid, async (transaction, current) => {
      if (current.removing_at !== null)
        return new Failure('state_conflict', 'The Organization is being removed and cannot be unfrozen');
      resumed = await store.updateSubscriptions(transaction, guid, false);
      if (current.frozen_at === null) return current;
      await record(transaction, actor, guid, 'unfreeze');
      return store.updateOrganization(transaction, guid, { frozen_at: null });
    });
    if (isFailure(unfrozen)) return unfrozen;
    await announce(resumed);
    log.info({ organization_guid: guid }, 'unfroze an Organization');
    return unfrozen;
  }

  return { freeze, unfreeze };
}

export function notFound(): Failure {
  return new Failure('not_found', 'There is no such organization');
}

function busy(outcome: 'it stays frozen' | 'it was not frozen'): Failure {
  return new Failure(
    'state_conflict',
    `Deliveries or transactions of the Organization did not end within ${QUIET_WITHIN_MS / 1000} seconds, and ${outcome}; try again`,
  );
}
