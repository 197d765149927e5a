import { sql } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';

/** Files of an Organization that are neither completed nor failed, and their stored bytes. */
export type Pending = { files: number; bytes: number };

/** Serializes the quota checks of an Organization until the transaction ends. */
export async function lockPending(transaction: Transaction, organizationGuid: string): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`portico pending files ${organizationGuid}`}, 0))`.execute(
    transaction,
  );
}

/** Counts up to `limit` files. Bytes of an upload whose lease has expired do not count. */
export async function selectPending(
  queries: Queries,
  organizationGuid: string,
  now: Date,
  limit: number,
): Promise<Pending> {
  const { rows } = await sql<Pending>`
    select count(*) as files, coalesce(sum(bytes), 0)::bigint as bytes from (
      select case when uploaded_at is not null or upload_leased_until > ${now} then pending_bytes end as bytes
      from files
      where organization_guid = ${organizationGuid} and completed_at is null and failed_at is null
      limit ${limit}
    ) as pending`.execute(queries);
  return rows[0] ?? { files: 0, bytes: 0 };
}
