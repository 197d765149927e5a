import { sql } from 'kysely';
import type { Queries } from '../database/database.ts';
import type { Row } from '../database/tables.ts';

export type KeyedRequest = { owner: string; key: string; fingerprint: Buffer };
export type Claim = KeyedRequest & { claim: string };
export type StoredAnswer = Pick<Row<'idempotency_keys'>, 'status' | 'body_encrypted'>;
type Found = Pick<Row<'idempotency_keys'>, 'claim' | 'fingerprint'> & StoredAnswer;

/**
 * Claims a key that is unused, expired or abandoned, and returns its row after that: with this claim, or with the request
 * that used the key before. Undefined when a concurrent statement claimed the key after this one started.
 */
export async function claimKey(
  queries: Queries,
  { owner, key, claim, fingerprint }: Claim,
  { now, lockedUntil, expiredBy }: { now: Date; lockedUntil: Date; expiredBy: Date },
): Promise<Found | undefined> {
  const { rows } = await sql<Found>`
    with claimed as (
      insert into idempotency_keys as kept (owner, key, claim, fingerprint, locked_until, created_at)
      values (${owner}, ${key}, ${claim}, ${fingerprint}, ${lockedUntil}, ${now})
      on conflict (owner, key) do update
      set claim = excluded.claim, fingerprint = excluded.fingerprint, locked_until = excluded.locked_until,
        status = null, body_encrypted = null, created_at = excluded.created_at
      where kept.created_at <= ${expiredBy} or (kept.status is null and kept.locked_until <= ${now})
      returning claim, fingerprint, status, body_encrypted
    )
    select claim, fingerprint, status, body_encrypted from claimed
    union all
    select claim, fingerprint, status, body_encrypted from idempotency_keys
    where owner = ${owner} and key = ${key} and created_at > ${expiredBy} and not exists (select from claimed)`.execute(
    queries,
  );
  return rows[0];
}

/** False when the claim was taken over. */
export async function completeKey(
  queries: Queries,
  { owner, key, claim }: Claim,
  answer: StoredAnswer,
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('idempotency_keys')
    .set(answer)
    .where('owner', '=', owner)
    .where('key', '=', key)
    .where('claim', '=', claim)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Leaves a key that is completed or was taken over. */
export async function releaseKey(queries: Queries, { owner, key, claim }: Claim): Promise<void> {
  await queries
    .deleteFrom('idempotency_keys')
    .where('owner', '=', owner)
    .where('key', '=', key)
    .where('claim', '=', claim)
    .where('status', 'is', null)
    .execute();
}
