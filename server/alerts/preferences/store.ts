import { sql } from 'kysely';
import { textArray, uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Row } from '../../infrastructure/database/tables.ts';

export type AlertMember = Row<'alert_members'>;
export type MemberKey = { organizationGuid: string; memberGuid: string };

export function selectAlertMember(
  queries: Queries,
  { organizationGuid, memberGuid }: MemberKey,
): Promise<AlertMember | undefined> {
  return queries
    .selectFrom('alert_members')
    .selectAll()
    .where('organization_guid', '=', organizationGuid)
    .where('member_guid', '=', memberGuid)
    .executeTakeFirst();
}

/** Creates the row when it is missing, so that concurrent changes wait for each other. */
export async function lockAlertMember(
  transaction: Transaction,
  { organizationGuid, memberGuid }: MemberKey,
): Promise<AlertMember> {
  const { rows } = await sql<AlertMember>`
    insert into alert_members (organization_guid, member_guid) values (${organizationGuid}, ${memberGuid})
    on conflict (organization_guid, member_guid) do update set member_guid = excluded.member_guid
    returning *`.execute(transaction);
  return rows[0] as AlertMember;
}

/** `read_through` never moves back. */
export async function updateReadThrough(
  transaction: Transaction,
  { organizationGuid, memberGuid }: MemberKey,
  guid: string,
): Promise<string> {
  const { rows } = await sql<{ read_through: string }>`
    update alert_members set read_through = greatest(read_through, ${guid}::uuid)
    where organization_guid = ${organizationGuid} and member_guid = ${memberGuid}
    returning read_through`.execute(transaction);
  return rows[0]?.read_through ?? guid;
}

export async function updateMutedTypes(
  transaction: Transaction,
  { organizationGuid, memberGuid }: MemberKey,
  types: readonly string[],
): Promise<void> {
  await sql`
    update alert_members set muted_types = ${textArray(types)}
    where organization_guid = ${organizationGuid} and member_guid = ${memberGuid}`.execute(transaction);
}

export function selectMuted(
  queries: Queries,
  organizationGuids: readonly string[],
): Promise<Pick<AlertMember, 'organization_guid' | 'member_guid' | 'muted_types'>[]> {
  return queries
    .selectFrom('alert_members')
    .select(['organization_guid', 'member_guid', 'muted_types'])
    .where('organization_guid', '=', sql<string>`any(${uuidArray(organizationGuids)})`)
    .where(sql<boolean>`muted_types <> '{}'`)
    .execute();
}
