import { sql } from 'kysely';
import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';

export type TotpSecret = { member_guid: string; totp_secret_encrypted: Buffer };

/** False if this step or a later one was already used. */
export async function useStep(queries: Queries, memberGuid: string, step: number): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('logins')
    .set({ totp_step: step })
    .where('member_guid', '=', memberGuid)
    .where('totp_step', '<', step)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** False if the code is unknown or was already used. */
export async function useRecoveryCode(queries: Queries, memberGuid: string, hash: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update logins set recovery_code_hashes = array_remove(recovery_code_hashes, ${hash})
    where member_guid = ${memberGuid} and ${hash} = any(recovery_code_hashes)`.execute(queries);
  return (numAffectedRows ?? 0n) > 0n;
}

/** Next secrets in member order, locked for re-encryption. */
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
