import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure, isFailure, type Precondition } from '../../infrastructure/runtime/failure.ts';
import type { Revocations } from '../../tokens/revoking/revocations.ts';
import { type Subscription, type SubscriptionRow, stateOf } from './state.ts';
import * as store from './store.ts';

export type Change = (
  transaction: Transaction,
  current: SubscriptionRow,
  now: Date,
) => Promise<SubscriptionRow | Failure>;

export type ChangeFound = ReturnType<typeof createChangeFound>;

type Deps = { database: Database; clock: Clock; organizations: Organizations; revocations: Revocations };
type Options = {
  /** Lock order: Organization before subscription. */
  lockedOrganization?: string | undefined;
  precondition?: Precondition<Subscription> | undefined;
  author?: Actor;
};

/** Locks a subscription and changes it. */
export function createChangeFound({ database, clock, organizations, revocations }: Deps) {
  return (
    tenant: store.TenantFilter,
    guid: string,
    change: Change,
    { lockedOrganization, precondition, author }: Options = {},
  ): Promise<Subscription | Failure> =>
    database.transaction(async (transaction) => {
      const now = clock.now();
      if (lockedOrganization !== undefined) {
        const organization = await organizations.lockForUpdate(transaction, lockedOrganization);
        if (isFailure(organization)) return organization;
      }
      const current = await store.selectSubscriptionForUpdate(transaction, tenant, guid, now);
      if (!current) return noSubscription();
      const refused =
        (await organizations.checkFrozen(current.organization_guid, transaction)) ??
        precondition?.(withState(current, now));
      if (refused) return refused;
      const changed = await change(transaction, current, now);
      if (isFailure(changed)) return changed;
      const revoked = author && changed !== current && (await revocations.checkAuthor(transaction, author));
      return revoked || withState(changed, now);
    });
}

export function withState(row: SubscriptionRow, now: Date): Subscription {
  return { ...row, state: stateOf(row, now) as Subscription['state'] };
}

export function noSubscription(): Failure {
  return new Failure('not_found', 'There is no such subscription');
}
