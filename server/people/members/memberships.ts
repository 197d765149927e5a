import type { Details } from '../../alerts/details.ts';
import type { Alerts } from '../../alerts/service.ts';
import { refusal } from '../../credentials/organizations/freezes.ts';
import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Role } from '../../tokens/roles.ts';
import * as store from './store.ts';

const MAX_ORGANIZATIONS_PER_MEMBER = 200;

type Deps = { database: Database; clock: Clock; alerts: Alerts; organizations: Organizations };

/** The memberships of one person, and those that are active. */
export function createMemberships({ database, clock, alerts, organizations }: Deps) {
  const { authentication } = database;
  return {
    /**
     * Locks the Organization of an invitation before its link and membership, as inviting and removing do: otherwise they
     * deadlock, or invite a member who has accepted meanwhile. Null is a link without an Organization.
     */
    async lockInviting(
      transaction: Transaction,
      organizationGuid: string | null,
    ): Promise<Failure | undefined> {
      if (organizationGuid === null) return undefined;
      const organization = await organizations.lockForShare(transaction, organizationGuid);
      return isFailure(organization) ? organization : undefined;
    },

    /** Locks a membership that was accepted, so that changes of a member's own objects take turns. */
    async lockOwn(transaction: Transaction, key: store.MembershipKey): Promise<Failure | undefined> {
      if (await store.lockMembership(transaction, key))
        return organizations.checkFrozen(key.organizationGuid, transaction);
      return new Failure('not_found', 'There is no such organization');
    },

    /**
     * Refuses changes of an account that moves with its Organizations: an export may have it already. A person with
     * another Organization keeps the account here, and the export has a copy.
     */
    async checkMoving(transaction: Transaction, memberGuid: string): Promise<Failure | undefined> {
      return (await store.isMoving(transaction, memberGuid)) ? refusal() : undefined;
    },

    /** Updates `last_seen_at`. */
    async grantOf(
      organizationGuid: string,
      memberGuid: string,
    ): Promise<{ role: Role; grantGuid: string } | Failure> {
      const key = { organizationGuid, memberGuid };
      const membership = await store.selectMembership(authentication.queries, key);
      if (!membership?.accepted_at) return new Failure('not_found', 'There is no such organization');
      const frozen = await organizations.checkFrozen(organizationGuid);
      if (frozen) return frozen;
      await store.updateMembership(authentication.queries, key, { last_seen_at: clock.now() });
      return { role: membership.role, grantGuid: membership.grant_guid };
    },

    async activeIn(transaction: Transaction, organizationGuids: readonly string[]) {
      const rows = await store.selectActiveMemberships(transaction, organizationGuids);
      return rows.map(({ organization_guid: organizationGuid, member_guid: memberGuid, role }) => ({
        ...{ organizationGuid, memberGuid, role },
      }));
    },

    /** Alerts each Organization of the person, in the transaction of the removal. */
    async raiseFactorRemoved(
      transaction: Transaction,
      actor: Actor,
      memberGuid: string,
      factor: Details['second_factor.removed']['factor'],
    ): Promise<void> {
      const by = actor.type === 'user' ? {} : { removed_by: 'operator' as const };
      const limit = MAX_ORGANIZATIONS_PER_MEMBER;
      const memberships = await store.selectMembershipsOf(transaction, memberGuid, limit);
      const { email = '' } = (await store.selectPerson(transaction, memberGuid)) ?? {};
      await alerts.raise(
        transaction,
        memberships.map(({ organization_guid: organizationGuid }) => ({
          ...{ type: 'second_factor.removed', organizationGuid },
          details: { member_guid: memberGuid, email, factor, ...by },
        })),
      );
    },

    async organizationsOf(memberGuid: string) {
      const found = await store.selectMembershipsOf(
        authentication.queries,
        memberGuid,
        MAX_ORGANIZATIONS_PER_MEMBER,
      );
      const known = await organizations.findAllForLogin(
        found.map((membership) => membership.organization_guid),
      );
      return found.flatMap(({ organization_guid: guid, role }) => {
        const organization = known.get(guid);
        return organization ? [{ organization, role }] : [];
      });
    },
  };
}
