import { sql } from 'kysely';
import { textArray } from '../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';

export type RevocationKind = 'application' | 'token' | 'edit' | 'freeze';
export type Revocation = { revision: number; kind: RevocationKind; subject: string; expires_at: Date };

/** Makes revisions visible in order. Taken after all other locks of a transaction, which end it soon. */
export async function lockRevocations(transaction: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('portico:revocations'))`.execute(transaction);
}

/** Returns the highest new revision. */
export async function insertRevocations(
  transaction: Transaction,
  revocations: readonly { kind: RevocationKind; subject: string; expires_at: Date; created_at: Date }[],
): Promise<number> {
  await lockRevocations(transaction);
  const rows = await transaction
    .insertInto('revocations')
    .values(revocations)
    .returning('revision')
    .execute();
  return Math.max(...rows.map(({ revision }) => revision));
}

export function selectRevocationsAfter(
  queries: Queries,
  revision: number,
  limit: number,
): Promise<Revocation[]> {
  return queries
    .selectFrom('revocations')
    .select(['revision', 'kind', 'subject', 'expires_at'])
    .where('revision', '>', revision)
    .orderBy('revision')
    .limit(limit)
    .execute();
}

/** Each token is given by the subjects that it can be revoked by. */
export async function areRevoked(
  queries: Queries,
  tokens: readonly (readonly string[])[],
): Promise<boolean[]> {
  const rows = await queries
    .selectFrom('revocations')
    .select('subject')
    .where('subject', '=', sql<string>`any(${textArray([...new Set(tokens.flat())])})`)
    .where('kind', 'in', ['application', 'token'])
    .execute();
  const revoked = new Set(rows.map(({ subject }) => subject));
  return tokens.map((subjects) => subjects.some((subject) => revoked.has(subject)));
}

export async function deleteRevocationsBefore(queries: Queries, moment: Date): Promise<void> {
  await queries.deleteFrom('revocations').where('expires_at', '<', moment).execute();
}

export async function upsertNode(
  queries: Queries,
  node: { guid: string; revision: number; lease_until: Date },
): Promise<void> {
  const { revision, lease_until } = node;
  await queries
    .insertInto('verifying_nodes')
    .values(node)
    .onConflict((conflict) => conflict.column('guid').doUpdateSet({ revision, lease_until }))
    .execute();
}

export async function deleteNode(queries: Queries, guid: string): Promise<void> {
  await queries.deleteFrom('verifying_nodes').where('guid', '=', guid).execute();
}

export async function deleteNodesBefore(queries: Queries, moment: Date): Promise<void> {
  await queries.deleteFrom('verifying_nodes').where('lease_until', '<', moment).execute();
}

/** Number of nodes that may still accept tokens revoked by this revision. */
export async function countNodesBehind(queries: Queries, revision: number, now: Date): Promise<number> {
  const { count } = await queries
    .selectFrom('verifying_nodes')
    .select((expression) => expression.fn.countAll<number>().as('count'))
    .where('lease_until', '>', now)
    .where('revision', '<', revision)
    .executeTakeFirstOrThrow();
  return count;
}
