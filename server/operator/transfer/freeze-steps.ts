import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Base } from '../../infrastructure/base.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Revocations } from '../../tokens/revoking/revocations.ts';
import * as store from './freeze-store.ts';

export type FreezingDeps = Base & {
  revocations: Revocations;
  dispatcher: { announceChange(subscriptionGuid: string): Promise<void>; takeOverExpired(): Promise<void> };
};

export type Attempt = { startedAt: Date; wasFrozen: boolean };

/** A freeze ends sooner; after this time another may begin. */
const ENDS_WITHIN_MS = 300_000;

/** The changes of a freeze. Each returns once every node knows it. */
export function createFreezeSteps({ database, clock, audit, revocations, dispatcher }: FreezingDeps) {
  async function announce(subscriptionGuids: readonly string[]): Promise<void> {
    await Promise.all(subscriptionGuids.map(dispatcher.announceChange));
  }

  function interruptedBefore(): Date {
    return new Date(clock.now().getTime() - ENDS_WITHIN_MS);
  }

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

  return {
    /** Sets `wasFrozen` before the commit, whose outcome may stay unknown. */
    async stopSending(guid: string, attempt: Attempt): Promise<Failure | undefined> {
      const stopped = await database.transaction(async (transaction) => {
        const current = await store.lockOrganization(transaction, guid);
        if (!current) return notFound();
        if (current.freezing_at !== null && current.freezing_at > interruptedBefore())
          return conflict('The Organization is being frozen by another call; try again later');
        attempt.wasFrozen = current.frozen_at !== null;
        if (!attempt.wasFrozen)
          await store.updateOrganization(transaction, guid, { freezing_at: attempt.startedAt });
        return store.updateSubscriptions(transaction, guid, true);
      });
      if (isFailure(stopped)) return stopped;
      await announce(stopped);
      return undefined;
    },

    setFrozen(actor: Actor, guid: string, attempt: Attempt): Promise<store.Organization | Failure> {
      return change(guid, async (transaction, current) => {
        if (current.frozen_at !== null && attempt.wasFrozen) return current;
        if (!isOf(attempt, current)) return unfrozenMeanwhile();
        await record(transaction, actor, guid, 'freeze');
        // For subscriptions that were created meanwhile.
        await store.updateSubscriptions(transaction, guid, true);
        return store.updateOrganization(transaction, guid, { frozen_at: clock.now() });
      });
    },

    /** Leaves an Organization that is not `expected`. */
    async unfreeze(
      actor: Actor,
      guid: string,
      expected: (current: store.Organization) => boolean,
    ): Promise<store.Organization | Failure> {
      let resumed: string[] = [];
      const unfrozen = await change(guid, async (transaction, current) => {
        if (!expected(current)) return current;
        if (current.removing_at !== null)
          return conflict('The Organization is being removed and cannot be unfrozen');
        resumed = await store.updateSubscriptions(transaction, guid, false);
        if (current.frozen_at !== null) await record(transaction, actor, guid, 'unfreeze');
        return store.updateOrganization(transaction, guid, { frozen_at: null, freezing_at: null });
      });
      await announce(resumed);
      return unfrozen;
    },

    interruptedBefore,
  };
}

/** Whether the freeze is this one: an Organization may be unfrozen meanwhile. */
export function isOf({ startedAt }: Attempt, { freezing_at: at }: store.Organization): boolean {
  return at?.getTime() === startedAt.getTime();
}

export function notFound(): Failure {
  return new Failure('not_found', 'There is no such organization');
}

export function unfrozenMeanwhile(): Failure {
  return conflict('The Organization was unfrozen by another call; try again');
}

function conflict(message: string): Failure {
  return new Failure('state_conflict', message);
}
