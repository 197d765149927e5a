import type { Selectable } from 'kysely';
import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';
import type { Tables } from '../../../infrastructure/database/tables.ts';

export type Session = Selectable<Tables['sessions']>;

export async function insertSession(transaction: Transaction, session: Session): Promise<void> {
  await transaction.insertInto('sessions').values(session).execute();
}

/** One that has not ended: not by its own end, and used since `idleSince`. */
export function selectLiveSession(
  queries: Queries,
  tokenHash: Buffer,
  { now, idleSince }: { now: Date; idleSince: Date },
): Promise<Session | undefined> {
  return queries
    .selectFrom('sessions')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .where('last_seen_at', '>', idleSince)
    .executeTakeFirst();
}

/** Nobody ends it before the transaction does; that it is used meanwhile is noted all the same. */
export async function holdSession(transaction: Transaction, guid: string): Promise<boolean> {
  const held = await transaction
    .selectFrom('sessions')
    .select('guid')
    .where('guid', '=', guid)
    .forKeyShare()
    .executeTakeFirst();
  return held !== undefined;
}

export function selectLiveSessions(
  queries: Queries,
  memberGuid: string,
  { now, idleSince }: { now: Date; idleSince: Date },
): Promise<Session[]> {
  return queries
    .selectFrom('sessions')
    .selectAll()
    .where('member_guid', '=', memberGuid)
    .where('expires_at', '>', now)
    .where('last_seen_at', '>', idleSince)
    .orderBy('guid', 'desc')
    .execute();
}

export async function touchSession(queries: Queries, guid: string, now: Date): Promise<void> {
  await queries.updateTable('sessions').set({ last_seen_at: now }).where('guid', '=', guid).execute();
}

export async function updateProof(
  transaction: Transaction,
  guid: string,
  proof: { proved_at: Date; second_factor_at?: Date },
): Promise<void> {
  await transaction.updateTable('sessions').set(proof).where('guid', '=', guid).execute();
}

export async function deleteSession(
  transaction: Transaction,
  memberGuid: string,
  guid: string,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('sessions')
    .where('member_guid', '=', memberGuid)
    .where('guid', '=', guid)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** All of this person but one; their guids. */
export async function deleteSessionsOf(
  transaction: Transaction,
  memberGuid: string,
  except: string | undefined,
): Promise<string[]> {
  let query = transaction.deleteFrom('sessions').where('member_guid', '=', memberGuid);
  if (except !== undefined) query = query.where('guid', '!=', except);
  return (await query.returning('guid').execute()).map(({ guid }) => guid);
}

/** All but the newest `keep`; the guids of those that are gone. */
export async function deleteOldSessions(
  transaction: Transaction,
  memberGuid: string,
  keep: number,
): Promise<string[]> {
  const old = transaction
    .selectFrom('sessions')
    .select('guid')
    .where('member_guid', '=', memberGuid)
    .orderBy('guid', 'desc')
    .offset(keep);
  const rows = await transaction.deleteFrom('sessions').where('guid', 'in', old).returning('guid').execute();
  return rows.map(({ guid }) => guid);
}

export async function deleteEndedSessions(
  queries: Queries,
  { now, idleSince }: { now: Date; idleSince: Date },
): Promise<void> {
  await queries
    .deleteFrom('sessions')
    .where((expression) =>
      expression.or([expression('expires_at', '<=', now), expression('last_seen_at', '<=', idleSince)]),
    )
    .execute();
}
