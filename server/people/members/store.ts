import { type Insertable, sql, type Updateable } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import { notFrozen } from '../../infrastructure/database/not-frozen.ts';
import { type Page, type PageOf, selectPage } from '../../infrastructure/database/paging/paging.ts';
import type { Row, Tables } from '../../infrastructure/database/tables.ts';

export type Person = Row<'members'>;
export type Membership = Row<'memberships'>;
/** A person as one Organization sees them: without other memberships, and without a name before they accept. */
export type Member = Pick<Person, 'guid' | 'email' | 'name'> &
  Pick<Membership, 'role' | 'created_at' | 'accepted_at' | 'last_seen_at'> & {
    /** Null without a link that may still be used. */
    invitation_expires_at: Date | null;
  };

export type MembershipKey = { organizationGuid: string; memberGuid: string };

export function selectPersonByEmail(queries: Queries, email: string): Promise<Person | undefined> {
  return queries.selectFrom('members').selectAll().where('email', '=', email).executeTakeFirst();
}

export function selectPerson(queries: Queries, guid: string): Promise<Person | undefined> {
  return queries.selectFrom('members').selectAll().where('guid', '=', guid).executeTakeFirst();
}

export function selectPeople(queries: Queries, guids: readonly string[]): Promise<Person[]> {
  return queries.selectFrom('members').selectAll().where('guid', 'in', guids).execute();
}

/**
 * Sets no column of a key: that would lock the row against references to it, and the session of a person who sets a password
 * is inserted under the lock of the revocations.
 */
export function upsertPerson(transaction: Transaction, person: Person): Promise<Person> {
  return transaction
    .insertInto('members')
    .values(person)
    .onConflict((conflict) =>
      conflict.column('email').doUpdateSet(({ ref }) => ({ updated_at: ref('members.updated_at') })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updatePerson(
  transaction: Transaction,
  guid: string,
  changes: Updateable<Tables['members']>,
): Promise<void> {
  await transaction.updateTable('members').set(changes).where('guid', '=', guid).execute();
}

export function selectMembers(
  queries: Queries,
  organizationGuid: string,
  page: Page,
): Promise<PageOf<Member>> {
  return selectPage(queries, membersOf(queries, organizationGuid), page);
}

export function selectMember(
  queries: Queries,
  { organizationGuid, memberGuid }: MembershipKey,
): Promise<Member | undefined> {
  return membersOf(queries, organizationGuid).where('members.guid', '=', memberGuid).executeTakeFirst();
}

export function selectNames(
  queries: Queries,
  organizationGuid: string,
  memberGuids: readonly string[],
): Promise<Pick<Member, 'guid' | 'name'>[]> {
  return membersOf(queries, organizationGuid).where('members.guid', 'in', memberGuids).execute();
}

/** Hides the name until the invitation is accepted: inviting an address must not reveal its owner. */
function membersOf(queries: Queries, organizationGuid: string) {
  return queries
    .selectFrom('memberships')
    .innerJoin('members', 'members.guid', 'memberships.member_guid')
    .select(({ case: choose, ref, selectFrom }) => [
      'members.guid',
      'members.email',
      choose().when('memberships.accepted_at', 'is not', null).then(ref('members.name')).end().as('name'),
      'memberships.role',
      'memberships.created_at',
      'memberships.accepted_at',
      'memberships.last_seen_at',
      // Only the newest link to an Organization is kept.
      selectFrom('login_links')
        .select('login_links.expires_at')
        .whereRef('login_links.member_guid', '=', 'memberships.member_guid')
        .whereRef('login_links.organization_guid', '=', 'memberships.organization_guid')
        .as('invitation_expires_at'),
    ])
    .where('memberships.organization_guid', '=', organizationGuid);
}

export function selectMembership(
  queries: Queries,
  { organizationGuid, memberGuid }: MembershipKey,
): Promise<Membership | undefined> {
  return queries
    .selectFrom('memberships')
    .selectAll()
    .where('organization_guid', '=', organizationGuid)
    .where('member_guid', '=', memberGuid)
    .executeTakeFirst();
}

/** False if there is no accepted membership. */
export async function lockMembership(
  transaction: Transaction,
  { organizationGuid, memberGuid }: MembershipKey,
): Promise<boolean> {
  const found = await transaction
    .selectFrom('memberships')
    .select('member_guid')
    .where('organization_guid', '=', organizationGuid)
    .where('member_guid', '=', memberGuid)
    .where('accepted_at', 'is not', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return found !== undefined;
}

/** Whether the person is in frozen Organizations, and has accepted no invitation of another. */
export async function isMoving(transaction: Transaction, memberGuid: string): Promise<boolean> {
  const { rows } = await sql<{ is_moving: boolean | null }>`
    select bool_or(is_frozen) and not bool_or(not is_frozen and accepted_at is not null) as is_moving
    from (
      select accepted_at, not ${notFrozen('memberships.organization_guid')} as is_frozen
      from memberships where member_guid = ${memberGuid}
    ) as own`.execute(transaction);
  return rows[0]?.is_moving ?? false;
}

/** Accepted memberships only. */
export function selectMembershipsOf(
  queries: Queries,
  memberGuid: string,
  limit: number,
): Promise<Membership[]> {
  return queries
    .selectFrom('memberships')
    .selectAll()
    .where('member_guid', '=', memberGuid)
    .where('accepted_at', 'is not', null)
    .orderBy('created_at')
    .orderBy('organization_guid')
    .limit(limit)
    .execute();
}

/** Accepted memberships in any of these Organizations. */
export function selectActiveMemberships(
  queries: Queries,
  organizationGuids: readonly string[],
): Promise<Pick<Membership, 'organization_guid' | 'member_guid' | 'role'>[]> {
  return queries
    .selectFrom('memberships')
    .select(['organization_guid', 'member_guid', 'role'])
    .where('organization_guid', 'in', organizationGuids)
    .where('accepted_at', 'is not', null)
    .execute();
}

export async function countMemberships(
  transaction: Transaction,
  organizationGuid: string,
  { founders = false } = {},
): Promise<number> {
  let query = transaction
    .selectFrom('memberships')
    .select((expression) => expression.fn.countAll<number>().as('count'))
    .where('organization_guid', '=', organizationGuid);
  if (founders) query = query.where('role', '=', 'founder').where('accepted_at', 'is not', null);
  return (await query.executeTakeFirstOrThrow()).count;
}

export async function insertMembership(
  transaction: Transaction,
  membership: Insertable<Tables['memberships']>,
): Promise<void> {
  await transaction.insertInto('memberships').values(membership).execute();
}

/** False if there is no such membership. */
export async function updateMembership(
  queries: Queries,
  { organizationGuid, memberGuid }: MembershipKey,
  changes: Updateable<Tables['memberships']>,
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('memberships')
    .set(changes)
    .where('organization_guid', '=', organizationGuid)
    .where('member_guid', '=', memberGuid)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function deleteMembership(
  transaction: Transaction,
  { organizationGuid, memberGuid }: MembershipKey,
): Promise<void> {
  await transaction
    .deleteFrom('memberships')
    .where('organization_guid', '=', organizationGuid)
    .where('member_guid', '=', memberGuid)
    .execute();
}
