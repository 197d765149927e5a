import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';
import type { Row } from '../../../infrastructure/database/tables.ts';

export type Session = Row<'sessions'>;

export async function insertSession(transaction: Transaction, session: Session): Promise<void> {
  await transaction.insertInto('sessions').values(session).execute();
}

type Validity = { now: Date; idleSince: Date };

export function selectActiveSession(
  queries: Queries,
  tokenHash: Buffer,
  validity: Validity,
): Promise<Session | undefined> {
  return activeSessions(queries, validity).where('token_hash', '=', tokenHash).executeTakeFirst();
}

/** FOR KEY SHARE blocks deletion, not updates of last_seen_at. */
export async function lockSession(transaction: Transaction, guid: string): Promise<boolean> {
  const locked = await transaction
    .selectFrom('sessions')
    .select('guid')
    .where('guid', '=', guid)
    .forKeyShare()
    .executeTakeFirst();
  return locked !== undefined;
}

export function selectActiveSessions(
  queries: Queries,
  memberGuid: string,
  validity: Validity,
): Promise<Session[]> {
  return activeSessions(queries, validity)
    .where('member_guid', '=', memberGuid)
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

/** Returns the guids of the deleted sessions. */
export async function deleteSessionsOf(
  transaction: Transaction,
  memberGuid: string,
  except: string | undefined,
): Promise<string[]> {
  let query = transaction.deleteFrom('sessions').where('member_guid', '=', memberGuid);
  if (except !== undefined) query = query.where('guid', '!=', except);
  return (await query.returning('guid').execute()).map(({ guid }) => guid);
}

/** Keeps the newest `keep` sessions; returns the guids of the deleted ones. */
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

export async function deleteExpiredSessions(queries: Queries, { now, idleSince }: Validity): Promise<void> {
  await queries
    .deleteFrom('sessions')
    .where((expression) =>
      expression.or([expression('expires_at', '<=', now), expression('last_seen_at', '<=', idleSince)]),
    )
    .execute();
}

function activeSessions(queries: Queries, { now, idleSince }: Validity) {
  return queries
    .selectFrom('sessions')
    .selectAll()
    .where('expires_at', '>', now)
    .where('last_seen_at', '>', idleSince);
}
