import { sql } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Row } from '../../infrastructure/database/tables.ts';

export type SigningKeyRow = Row<'signing_keys'>;

export function selectSigningKeys(queries: Queries): Promise<SigningKeyRow[]> {
  return queries.selectFrom('signing_keys').selectAll().orderBy('signs_from').execute();
}

export async function insertSigningKey(
  transaction: Transaction,
  key: Omit<SigningKeyRow, 'public_jwk'> & { public_jwk: string },
): Promise<void> {
  await transaction.insertInto('signing_keys').values(key).execute();
}

export async function updatePrivateKey(
  transaction: Transaction,
  kid: string,
  encrypted: Buffer,
): Promise<void> {
  await transaction
    .updateTable('signing_keys')
    .set({ private_jwk_encrypted: encrypted })
    .where('kid', '=', kid)
    .execute();
}

export async function deleteSigningKeys(queries: Queries, kids: readonly string[]): Promise<void> {
  await queries.deleteFrom('signing_keys').where('kid', 'in', kids).execute();
}

/** Serializes the creation of the first key and rotations across nodes. */
export async function lockSigningKeys(transaction: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('portico:signing_keys'))`.execute(transaction);
}
