import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';
import type { Row } from '../../../infrastructure/database/tables.ts';

export type Passkey = Row<'passkeys'>;
export type Challenge = Row<'passkey_challenges'>;

export async function insertChallenge(queries: Queries, challenge: Challenge): Promise<void> {
  await queries.insertInto('passkey_challenges').values(challenge).execute();
}

/** Consumes a challenge: concurrent requests cannot both get it. */
export function deleteChallenge(
  queries: Queries,
  which: { guid: string } | { memberGuid: string; challengeHash: Buffer },
  now: Date,
): Promise<Challenge | undefined> {
  const unexpired = queries.deleteFrom('passkey_challenges').where('expires_at', '>', now).returningAll();
  const found =
    'guid' in which
      ? unexpired.where('guid', '=', which.guid).where('member_guid', 'is', null)
      : unexpired
          .where('challenge_hash', '=', which.challengeHash)
          .where('member_guid', '=', which.memberGuid);
  return found.executeTakeFirst();
}

export async function deleteExpiredChallenges(queries: Queries, now: Date): Promise<void> {
  await queries.deleteFrom('passkey_challenges').where('expires_at', '<=', now).execute();
}

export function selectPasskeysOf(queries: Queries, memberGuid: string): Promise<Passkey[]> {
  return queries
    .selectFrom('passkeys')
    .selectAll()
    .where('member_guid', '=', memberGuid)
    .orderBy('guid', 'desc')
    .execute();
}

export function selectPasskeyByCredential(
  queries: Queries,
  credentialId: string,
): Promise<Passkey | undefined> {
  return queries
    .selectFrom('passkeys')
    .selectAll()
    .where('credential_id', '=', credentialId)
    .executeTakeFirst();
}

/** False if the authenticator is already registered, to any member. */
export async function insertPasskey(transaction: Transaction, passkey: Passkey): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('passkeys')
    .values(passkey)
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** False if the passkey was removed, or its counter changed since it was read. */
export async function usePasskey(
  transaction: Transaction,
  guid: string,
  { before, counter, now }: { before: number; counter: number; now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('passkeys')
    .set({ counter, last_used_at: now })
    .where('guid', '=', guid)
    .where('counter', '=', before)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns the guids of the deleted passkeys. */
export async function deletePasskeysOf(transaction: Transaction, memberGuid: string): Promise<string[]> {
  const query = transaction.deleteFrom('passkeys').where('member_guid', '=', memberGuid);
  return (await query.returning('guid').execute()).map(({ guid }) => guid);
}

export async function deletePasskey(
  transaction: Transaction,
  memberGuid: string,
  guid: string,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('passkeys')
    .where('member_guid', '=', memberGuid)
    .where('guid', '=', guid)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
