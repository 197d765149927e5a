import type { Static } from 'typebox';
import type { SecondFactorChanges } from '../../credentials/organizations/schema.ts';
import type { Organization, Organizations } from '../../credentials/organizations/service.ts';
import type { Actor, Audit } from '../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import type { Revocations } from '../../tokens/revoking/revocations.ts';
import type { Role } from '../../tokens/roles.ts';
import type { People } from './people.ts';
import type { NewMember } from './schema.ts';
import * as store from './store.ts';

export type { Member } from './store.ts';
export type Members = ReturnType<typeof createMembers>;

/** Everybody on a team counts, also those who have not accepted yet. */
const MAX_MEMBERS = 200;
/** Shown at the login; nobody works for more. */
const MAX_ORGANIZATIONS_OF_MEMBER = 200;

type Deps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  audit: Audit;
  organizations: Organizations;
  people: People;
  revocations: Revocations;
};

/** The team of an Organization: who is in it, as what. Who they are, and how they prove it, is told elsewhere. */
export function createMembers(deps: Deps) {
  const { database, clock, guids, audit, organizations, people, revocations } = deps;
  const { queries, authentication } = database;

  /** One at a time for each Organization, so that two Founders cannot take each other's role at once. */
  async function lockTeam(
    transaction: Transaction,
    actor: Actor,
    organizationGuid: string,
  ): Promise<Failure | undefined> {
    const organization = await organizations.lockForUpdate(transaction, organizationGuid);
    if (isFailure(organization)) return organization;
    if (actor.type !== 'user') return undefined;
    // Their token may be from the moment before they were demoted.
    const acting = await store.selectMembership(transaction, { organizationGuid, memberGuid: actor.id });
    if (acting?.role === 'founder' && acting.accepted_at !== null) return undefined;
    return new Failure('invalid_scopes', 'Only a Founder changes the team');
  }

  /** A Founder must remain to change the team. The operator and the service may remove the last; the operator can appoint another. */
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
    return new Failure('last_founder', 'The last Founder cannot be removed or given another role');
  }

  /** Found under the Organization's lock, changed, and the tokens of what it was are dead when this returns. */
  async function changeMembership(
    actor: Actor,
    organizationGuid: string,
    memberGuid: string,
    change: (transaction: Transaction, membership: store.Membership) => Promise<'changed' | 'unchanged'>,
    { keepsFounder }: { keepsFounder: boolean },
  ): Promise<Failure | undefined> {
    const key = { organizationGuid, memberGuid };
    const revision = await database.transaction(async (transaction) => {
      const closed = await lockTeam(transaction, actor, organizationGuid);
      if (closed) return closed;
      const membership = await store.selectMembership(transaction, key);
      if (!membership) return memberNotFound();
      const refused = keepsFounder ? undefined : await checkLastFounder(transaction, actor, membership);
      if (refused) return refused;
      const outcome = await change(transaction, membership);
      return outcome === 'unchanged'
        ? undefined
        : revocations.revoke(transaction, 'token', membership.grant_guid);
    });
    if (isFailure(revision)) return revision;
    if (revision !== undefined) await revocations.propagate(revision);
    return undefined;
  }

  async function get(organizationGuid: string, memberGuid: string): Promise<store.Member | Failure> {
    return (await store.selectMember(queries, { organizationGuid, memberGuid })) ?? memberNotFound();
  }

  return {
    get,

    async list(organizationGuid: string, page: Page): Promise<PageOf<store.Member> | Failure> {
      const organization = await organizations.get(organizationGuid);
      if (isFailure(organization)) return organization;
      return store.selectMembers(database.lists, organizationGuid, page);
    },

    /** In the transaction that makes the invitation too. Asked again before it was accepted, it begins anew. */
    async invite(
      transaction: Transaction,
      actor: Actor,
      organizationGuid: string,
      { email, role }: Static<typeof NewMember>,
    ): Promise<store.Member | Failure> {
      const closed = await lockTeam(transaction, actor, organizationGuid);
      if (closed) return closed;
      const person = await people.ensure(transaction, email);
      const key = { organizationGuid, memberGuid: person.guid };
      const existing = await store.selectMembership(transaction, key);
      if (existing?.accepted_at)
        return new Failure('member_exists', 'A person with this address is on the team already');
      const now = clock.now();
      const granted = { role, grant_guid: guids.next(), updated_at: now };
      if (existing) await store.updateMembership(transaction, key, granted);
      else {
        if ((await store.countMemberships(transaction, organizationGuid)) >= MAX_MEMBERS)
          return new Failure('member_limit_reached', `A team has at most ${MAX_MEMBERS} members`);
        const keys = { organization_guid: organizationGuid, member_guid: person.guid };
        await store.insertMembership(transaction, { ...keys, ...granted, created_at: now });
      }
      const changes = { email: person.email, role };
      await audit.record(transaction, actor, about('invite', organizationGuid, person.guid, changes));
      return (await store.selectMember(transaction, key)) ?? memberNotFound();
    },

    /** From an invitation to a membership: by whoever has its link and is this person. */
    async accept(
      transaction: Transaction,
      actor: Actor,
      { organizationGuid, memberGuid }: { organizationGuid: string; memberGuid: string },
    ): Promise<Failure | undefined> {
      const now = clock.now();
      const key = { organizationGuid, memberGuid };
      if (!(await store.updateMembership(transaction, key, { accepted_at: now, updated_at: now })))
        return memberNotFound();
      await audit.record(transaction, actor, about('accept', organizationGuid, memberGuid, {}));
      return undefined;
    },

    async changeRole(
      actor: Actor,
      organizationGuid: string,
      memberGuid: string,
      role: Role,
    ): Promise<store.Member | Failure> {
      const refused = await changeMembership(
        actor,
        organizationGuid,
        memberGuid,
        async (transaction, { role: before }) => {
          if (before === role) return 'unchanged';
          const granted = { role, grant_guid: guids.next(), updated_at: clock.now() };
          await store.updateMembership(transaction, { organizationGuid, memberGuid }, granted);
          const changes = { role, before };
          await audit.record(transaction, actor, about('update', organizationGuid, memberGuid, changes));
          return 'changed';
        },
        { keepsFounder: role === 'founder' },
      );
      return refused ?? get(organizationGuid, memberGuid);
    },

    /** Who has no second factor themselves would lock themselves out by requiring one. */
    changePolicy(
      actor: Actor,
      organizationGuid: string,
      input: Static<typeof SecondFactorChanges>,
      { secondFactor }: { secondFactor: boolean },
    ): Promise<Organization | Failure> {
      return database.transaction(async (transaction) => {
        const closed = await lockTeam(transaction, actor, organizationGuid);
        if (closed) return closed;
        const isRequired = input.second_factor_in_production || input.second_factor_roles?.length;
        if (isRequired && !secondFactor)
          return new Failure(
            'second_factor_required',
            'Set up a second factor for yourself before you require one of others',
          );
        return organizations.changeSecondFactor(transaction, actor, organizationGuid, input);
      });
    },

    /** `alongside` takes back what was made with the membership, in the same transaction. */
    remove(
      actor: Actor,
      organizationGuid: string,
      memberGuid: string,
      alongside: (transaction: Transaction) => Promise<void>,
    ): Promise<Failure | undefined> {
      return changeMembership(
        actor,
        organizationGuid,
        memberGuid,
        async (transaction, { role }) => {
          // First, as accepting does: two that took these locks in different orders would wait for each other.
          await alongside(transaction);
          await store.deleteMembership(transaction, { organizationGuid, memberGuid });
          await audit.record(transaction, actor, about('remove', organizationGuid, memberGuid, { role }));
          return 'changed';
        },
        { keepsFounder: false },
      );
    },

    /** What this person may do there now; noting that they came. */
    async grantOf(
      organizationGuid: string,
      memberGuid: string,
    ): Promise<{ role: Role; grantGuid: string } | Failure> {
      const key = { organizationGuid, memberGuid };
      const membership = await store.selectMembership(authentication.queries, key);
      if (!membership?.accepted_at) return new Failure('not_found', 'There is no such organization');
      await store.updateMembership(authentication.queries, key, { last_seen_at: clock.now() });
      return { role: membership.role, grantGuid: membership.grant_guid };
    },

    /** Where this person is on the team. */
    async organizationsOf(memberGuid: string) {
      const found = await store.selectMembershipsOf(
        authentication.queries,
        memberGuid,
        MAX_ORGANIZATIONS_OF_MEMBER,
      );
      const known = await organizations.getAllOfLogin(
        found.map((membership) => membership.organization_guid),
      );
      return found.flatMap(({ organization_guid: guid, role }) => {
        const organization = known.get(guid);
        return organization ? [{ organization, role }] : [];
      });
    },
  };
}

function memberNotFound(): Failure {
  return new Failure('not_found', 'There is no such member');
}

function about(
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
