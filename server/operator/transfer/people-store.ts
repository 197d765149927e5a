import { sql } from 'kysely';
import type { Transaction } from '../../infrastructure/database/database.ts';

/** People that this installation has already, by guid or address. */
export async function selectPeople(
  transaction: Transaction,
  guids: readonly string[],
  emails: readonly string[],
): Promise<{ guid: string; email: string }[]> {
  const { rows } = await sql<{ guid: string; email: string }>`
    select guid, email from members where guid = any(${[...guids]}::uuid[]) or email = any(${[...emails]}::text[])`.execute(
    transaction,
  );
  return rows;
}

/** People without an Organization, of those who were members of the removed one. */
export async function deleteFormerMembers(transaction: Transaction, guids: readonly string[]): Promise<void> {
  await sql`
    delete from members where guid = any(${[...guids]}::uuid[])
      and not exists (select from memberships where member_guid = members.guid)`.execute(transaction);
}

export async function selectMemberGuids(
  transaction: Transaction,
  organizationGuid: string,
): Promise<string[]> {
  const rows = await transaction
    .selectFrom('memberships')
    .select('member_guid')
    .where('organization_guid', '=', organizationGuid)
    .execute();
  return rows.map(({ member_guid }) => member_guid);
}
