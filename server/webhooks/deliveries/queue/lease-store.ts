import { sql } from 'kysely';
import { uuidArray } from '../../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import { leasedByAny, lockBatches, requeueLockedBatches } from './batch-store.ts';
import { releaseLeased } from './queue-store.ts';

/** The dispatchers at work and until when each is known to live. */

export async function insertDispatcher(queries: Queries, guid: string, leaseUntil: Date): Promise<void> {
  await queries.insertInto('dispatchers').values({ guid, lease_until: leaseUntil }).execute();
}

/** False when others have taken it for dead: then nothing of what it held is its own any more. */
export async function extendLease(queries: Queries, guid: string, leaseUntil: Date): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('dispatchers')
    .set({ lease_until: leaseUntil })
    .where('guid', '=', guid)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Takes the dispatchers off the list whose lease has run out; those that another node is at are left to it. */
export async function deleteExpiredDispatchers(
  transaction: Transaction,
  now: Date,
  except: string,
): Promise<string[]> {
  const expired = transaction
    .selectFrom('dispatchers')
    .select('guid')
    .where('lease_until', '<', now)
    .where('guid', '!=', except)
    .forUpdate()
    .skipLocked();
  const rows = await transaction
    .with('expired', () => expired)
    .deleteFrom('dispatchers')
    .using('expired')
    .whereRef('dispatchers.guid', '=', 'expired.guid')
    .returning('dispatchers.guid')
    .execute();
  return rows.map((row) => row.guid);
}

export async function deleteDispatcher(transaction: Transaction, guid: string): Promise<void> {
  await transaction.deleteFrom('dispatchers').where('guid', '=', guid).execute();
}

/**
 * Everything that they held, back into the queue. Reads the whole queue; that is rare enough to need no index. A row
 * that a recorder is writing is skipped: it is released by what is written, or found as an orphan.
 */
export async function releaseAll(transaction: Transaction, holders: readonly string[]): Promise<number> {
  const batches = await lockBatches(transaction, leasedByAny(holders));
  const released = await releaseLeased(transaction, sql<boolean>`leased_by = any(${uuidArray(holders)})`);
  await preferIndexes(transaction);
  return released + (await requeueLockedBatches(transaction, batches));
}
