import type { Static } from 'typebox';
import type { Alerts } from '../../alerts/service.ts';
import type { SecondFactorChanges } from '../../credentials/organizations/schema.ts';
import type { Organization, Organizations } from '../../credentials/organizations/service.ts';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Base } from '../../infrastructure/base.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import { Failure, isFailure, type Precondition } from '../../infrastructure/runtime/failure.ts';
import type { Revocations } from '../../tokens/revoking/revocations.ts';
import type { Role } from '../../tokens/roles.ts';
import { createMemberships } from './memberships.ts';
import type { People } from './people.ts';
import type { NewMember } from './schema.ts';
import * as store from './store.ts';

export type { Member } from './store.ts';
export type Members = ReturnType<typeof createMembers>;

/** Invited members count too. */
const MAX_MEMBERS = 200;

type Deps = Base & {
  alerts: Alerts;
  organizations: Organizations;
  people: People;
  revocations: Revocations;
};

/** Memberships of people in Organizations, with their roles. */
export function createMembers(deps: Deps) {
  const { database, clock, guids, audit, alerts, organizations, people, revocations } = deps;
  const { queries } = database;

  /** Serializes changes to a team, so that two Founders cannot demote each other concurrently. */
  async function lockTeam(
    transaction: Transaction,
    actor: Actor,
    organizationGuid: string,
  ): Promise<Failure | undefined> {
    const organization = await organizations.lockForUpdate(transaction, organizationGuid);
    if (isFailure(organization)) return organization;
    if (actor.type !== 'user') return undefined;
    // The token may have been issued before the caller was demoted.
    const acting = await store.selectMembership(transaction, { organizationGuid, memberGuid: actor.id });
    if (acting?.role === 'founder' && acting.accepted_at !== null) return undefined;
    return new Failure('invalid_scopes', 'Only a Founder can change the team');
  }

  /** Only the operator and the service may remove the last Founder: the operator can appoint another. */
  async function checkLastFounder(
    transaction: Transaction,
    actor: Actor,
    membership: store.Membership,
  ): Promise<Failure | undefined> {
    const isFounder = membership.role === 'founder' && membership.accepted_at !== null;
    if (!isFounder || actor.type === 'operator' || actor.type === 'system') return undefined;
    const founders = await store.countMemberships(transaction, membership.organization_guid, {
      founders: true,
    });
    if (founders > 1) return undefined;
    return new Failure(
      'last_founder',
      'The last Founder cannot be removed or change role. Make another member Founder first',
    );
  }

  /** Returns once no node accepts a token of the changed membership. */
  async function changeMembership(
    actor: Actor,
    organizationGuid: string,
    memberGuid: string,
    change: (transaction: Transaction, membership: store.Membership) => Promise<'changed' | 'unchanged'>,
    {
      keepsFounder,
      precondition,
    }: { keepsFounder: boolean; precondition?: Precondition<store.Member> | undefined },
  ): Promise<Failure | undefined> {
    const key = { organizationGuid, memberGuid };
    const revision = await database.transaction(async (transaction) => {
      const refusal = await lockTeam(transaction, actor, organizationGuid);
      if (refusal) return refusal;
      const membership = await store.selectMembership(transaction, key);
      if (!membership) return memberNotFound();
      // The lock of the team covers its members.
      const member = precondition && (await store.selectMember(transaction, key));
      const differs = member && precondition(member);
      if (differs) return differs;
      const lastFounder = keepsFounder ? undefined : await checkLastFounder(transaction, actor, membership);
      if (lastFounder) return lastFounder;
      const outcome = await change(transaction, membership);
      if (outcome === 'unchanged') return undefined;
      const revoked = await revocations.checkAuthor(transaction, actor);
      return revoked ?? revocations.revoke(transaction, 'token', membership.grant_guid);
    });
    if (isFailure(revision)) return revision;
    await revocations.propagate(revision);
    return undefined;
  }

  async function get(organizationGuid: string, memberGuid: string): Promise<store.Member | Failure> {
    return (await store.selectMember(queries, { organizationGuid, memberGuid })) ?? memberNotFound();
  }

  return {
    ...createMemberships(deps),

    get,

    async list(organizationGuid: string, page: Page): Promise<PageOf<store.Member> | Failure> {
      const organization = await organizations.get(organizationGuid);
      if (isFailure(organization)) return organization;
      return store.selectMembers(database.lists, organizationGuid, page);
    },

    /** Names of members who have accepted, by guid, in one query. */
    async namesOf(
      organizationGuid: string,
      memberGuids: readonly string[],
    ): Promise<ReadonlyMap<string, string>> {
      if (memberGuids.length === 0) return new Map();
      const found = await store.selectNames(database.lists, organizationGuid, memberGuids);
      return new Map(found.flatMap(({ guid, name }) => (name === null ? [] : [[guid, name]])));
    },

    /** An invitation that was not accepted yet is replaced. */
    async invite(
      transaction: Transaction,
      actor: Actor,
      organizationGuid: string,
      { email, role }: Static<typeof NewMember>,
    ): Promise<store.Member | Failure> {
      const refusal = await lockTeam(transaction, actor, organizationGuid);
      if (refusal) return refusal;
      const person = await people.ensure(transaction, email);
      const key = { organizationGuid, memberGuid: person.guid };
      const existing = await store.selectMembership(transaction, key);
      if (existing?.accepted_at)
        return new Failure('member_exists', 'A person with this email address is already on the team');
      const now = clock.now();
      const granted = { role, grant_guid: guids.next(), updated_at: now };
      if (existing) await store.updateMembership(transaction, key, granted);
      else {
        if ((await store.countMemberships(transaction, organizationGuid)) >= MAX_MEMBERS)
          return new Failure(
            'member_limit_reached',
            `Member limit reached (${MAX_MEMBERS}). Remove a member to invite another`,
          );
        const keys = { organization_guid: organizationGuid, member_guid: person.guid };
        await store.insertMembership(transaction, { ...keys, ...granted, created_at: now });
      }
      const changes = { email: person.email, role };
      await audit.record(transaction, actor, memberChange('invite', organizationGuid, person.guid, changes));
      return (await store.selectMember(transaction, key)) ?? memberNotFound();
    },

    /** The Organization must be locked, so that the membership does not change meanwhile. */
    async accept(
      transaction: Transaction,
      actor: Actor,
      { organizationGuid, memberGuid }: { organizationGuid: string; memberGuid: string },
    ): Promise<Failure | undefined> {
      const now = clock.now();
      const key = { organizationGuid, memberGuid };
      if (!(await store.updateMembership(transaction, key, { accepted_at: now, updated_at: now })))
        return memberNotFound();
      await audit.record(transaction, actor, memberChange('accept', organizationGuid, memberGuid, {}));
      const { email = '', role = 'viewer' } = (await store.selectMember(transaction, key)) ?? {};
      const details = { member_guid: memberGuid, email, role };
      await alerts.raise(transaction, [{ type: 'member.joined', organizationGuid, details }]);
      return undefined;
    },

    async changeRole(
      actor: Actor,
      { organizationGuid, memberGuid }: { organizationGuid: string; memberGuid: string },
      role: Role,
      precondition?: Precondition<store.Member>,
    ): Promise<store.Member | Failure> {
      const refused = await changeMembership(
        actor,
        organizationGuid,
        memberGuid,
        async (transaction, { role: before }) => {
          if (before === role) return 'unchanged';
          const granted = { role, grant_guid: guids.next(), updated_at: clock.now() };
          await store.updateMembership(transaction, { organizationGuid, memberGuid }, granted);
          await audit.record(transaction, actor, {
            ...memberChange('update', organizationGuid, memberGuid, { role }),
            before: { role: before },
          });
          return 'changed';
        },
        { keepsFounder: role === 'founder', precondition },
      );
      return refused ?? get(organizationGuid, memberGuid);
    },

    /** A caller without a second factor would lock themselves out by requiring one. */
    changePolicy(
      actor: Actor,
      { organizationGuid, secondFactor }: { organizationGuid: string; secondFactor: boolean },
      input: Static<typeof SecondFactorChanges>,
      precondition?: Precondition<Organization>,
    ): Promise<Organization | Failure> {
      return database.transaction(async (transaction) => {
        const refusal = await lockTeam(transaction, actor, organizationGuid);
        if (refusal) return refusal;
        const isRequired = input.second_factor_in_production || input.second_factor_roles?.length;
        if (isRequired && !secondFactor)
          return new Failure(
            'second_factor_required',
            'Set up your own second factor before you require one of others',
          );
        const changed = await organizations.changeSecondFactor(
          transaction,
          actor,
          organizationGuid,
          input,
          precondition,
        );
        return (await revocations.checkAuthor(transaction, actor)) ?? changed;
      });
    },

    remove(
      actor: Actor,
      organizationGuid: string,
      memberGuid: string,
      withdrawInvitation: (transaction: Transaction) => Promise<void>,
    ): Promise<Failure | undefined> {
      return changeMembership(
        actor,
        organizationGuid,
        memberGuid,
        async (transaction, { role }) => {
          await withdrawInvitation(transaction);
          await store.deleteMembership(transaction, { organizationGuid, memberGuid });
          await audit.record(
            transaction,
            actor,
            memberChange('remove', organizationGuid, memberGuid, { role }),
          );
          return 'changed';
        },
        { keepsFounder: false },
      );
    },
  };
}

function memberNotFound(): Failure {
  return new Failure('not_found', 'There is no such member');
}

function memberChange(
  verb: 'invite' | 'accept' | 'update' | 'remove',
  organizationGuid: string,
  memberGuid: string,
  changes: Record<string, unknown>,
) {
  return {
    action: `member.${verb}`,
    organizationGuid,
    objectType: 'member',
    objectId: memberGuid,
    changes,
  } as const;
}
