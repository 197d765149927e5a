import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';
import type { Row } from '../../../infrastructure/database/tables.ts';

export type LinkRow = Row<'login_links'>;

export async function insertLink(transaction: Transaction, link: LinkRow): Promise<void> {
  await transaction.insertInto('login_links').values(link).execute();
}

export function selectLink(queries: Queries, tokenHash: Buffer, now: Date): Promise<LinkRow | undefined> {
  return queries
    .selectFrom('login_links')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** Consumes a link: concurrent requests cannot both get it. */
export function deleteLink(
  transaction: Transaction,
  tokenHash: Buffer,
  now: Date,
): Promise<LinkRow | undefined> {
  return transaction
    .deleteFrom('login_links')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
}

/** Invitations to an Organization; password reset links if `organizationGuid` is null. */
export async function deleteLinksOf(
  transaction: Transaction,
  memberGuid: string,
  organizationGuid: string | null,
): Promise<void> {
  const links = transaction.deleteFrom('login_links').where('member_guid', '=', memberGuid);
  await links.where('organization_guid', organizationGuid === null ? 'is' : '=', organizationGuid).execute();
}

export async function deleteExpiredLinks(queries: Queries, now: Date): Promise<void> {
  await queries.deleteFrom('login_links').where('expires_at', '<=', now).execute();
}
