import { type Selectable, sql, type Updateable } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Tables } from '../../infrastructure/database/tables.ts';

export type Login = Selectable<Tables['logins']>;

export function selectLogin(queries: Queries, memberGuid: string): Promise<Login | undefined> {
  return queries.selectFrom('logins').selectAll().where('member_guid', '=', memberGuid).executeTakeFirst();
}

/** Nobody changes the password while a session is begun by the old one. */
export function selectLoginForShare(
  transaction: Transaction,
  memberGuid: string,
): Promise<Login | undefined> {
  return transaction
    .selectFrom('logins')
    .selectAll()
    .where('member_guid', '=', memberGuid)
    .forShare()
    .executeTakeFirst();
}

/** For whoever changes how a person logs in: one at a time, and the row is there afterwards. */
export async function lockLogin(transaction: Transaction, memberGuid: string, now: Date): Promise<Login> {
  await transaction
    .insertInto('logins')
    .values({ member_guid: memberGuid, updated_at: now })
    .onConflict((conflict) => conflict.column('member_guid').doNothing())
    .execute();
  return transaction
    .selectFrom('logins')
    .selectAll()
    .where('member_guid', '=', memberGuid)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

export async function updateLogin(
  transaction: Transaction,
  memberGuid: string,
  changes: Updateable<Tables['logins']>,
): Promise<void> {
  await transaction.updateTable('logins').set(changes).where('member_guid', '=', memberGuid).execute();
}

/** False when this step, or a later one, was used before. */
export async function useStep(queries: Queries, memberGuid: string, step: number): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('logins')
    .set({ totp_step: step })
    .where('member_guid', '=', memberGuid)
    .where('totp_step', '<', step)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** False when there is no such code, or not any more. */
export async function useRecoveryCode(queries: Queries, memberGuid: string, hash: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update logins set recovery_code_hashes = array_remove(recovery_code_hashes, ${hash})
    where member_guid = ${memberGuid} and ${hash} = any(recovery_code_hashes)`.execute(queries);
  return (numAffectedRows ?? 0n) > 0n;
}

export type TotpSecret = { member_guid: string; totp_secret_encrypted: Buffer };

/** The next secrets in the order of their persons, locked; for re-encryption. */
export function selectTotpSecretsForUpdate(
  transaction: Transaction,
  after: string | undefined,
  limit: number,
): Promise<TotpSecret[]> {
  let query = transaction
    .selectFrom('logins')
    .select(['member_guid', 'totp_secret_encrypted'])
    .where('totp_secret_encrypted', 'is not', null)
    .$narrowType<{ totp_secret_encrypted: Buffer }>();
  if (after !== undefined) query = query.where('member_guid', '>', after);
  return query.orderBy('member_guid').limit(limit).forUpdate().execute();
}

export async function updateTotpSecrets(
  transaction: Transaction,
  secrets: readonly TotpSecret[],
): Promise<void> {
  await sql`
    update logins set totp_secret_encrypted = secrets.totp_secret_encrypted
    from unnest(
      ${secrets.map((secret) => secret.member_guid)}::uuid[],
      ${secrets.map((secret) => secret.totp_secret_encrypted)}::bytea[]
    ) as secrets (member_guid, totp_secret_encrypted)
    where logins.member_guid = secrets.member_guid`.execute(transaction);
}
