import type { Updateable } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Row, Tables } from '../../infrastructure/database/tables.ts';

export type Login = Row<'logins'>;

export function selectLogin(queries: Queries, memberGuid: string): Promise<Login | undefined> {
  return loginOf(queries, memberGuid).executeTakeFirst();
}

export function selectLoginForShare(
  transaction: Transaction,
  memberGuid: string,
): Promise<Login | undefined> {
  return loginOf(transaction, memberGuid).forShare().executeTakeFirst();
}

/** Creates the row if it is missing. */
export async function lockLogin(transaction: Transaction, memberGuid: string, now: Date): Promise<Login> {
  await transaction
    .insertInto('logins')
    .values({ member_guid: memberGuid, updated_at: now })
    .onConflict((conflict) => conflict.column('member_guid').doNothing())
    .execute();
  return loginOf(transaction, memberGuid).forUpdate().executeTakeFirstOrThrow();
}

export async function updateLogin(
  transaction: Transaction,
  memberGuid: string,
  changes: Updateable<Tables['logins']>,
): Promise<void> {
  await transaction.updateTable('logins').set(changes).where('member_guid', '=', memberGuid).execute();
}

/** The secret of an authenticator app that is not confirmed. */
export async function clearPendingTotp(
  transaction: Transaction,
  memberGuid: string,
  now: Date,
): Promise<void> {
  await transaction
    .updateTable('logins')
    .set({ totp_secret_encrypted: null, totp_begun_at: null, updated_at: now })
    .where('member_guid', '=', memberGuid)
    .where('totp_confirmed_at', 'is', null)
    .where('totp_secret_encrypted', 'is not', null)
    .execute();
}

function loginOf(queries: Queries, memberGuid: string) {
  return queries.selectFrom('logins').selectAll().where('member_guid', '=', memberGuid);
}
