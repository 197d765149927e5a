import { sql } from 'kysely';
import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import { leasedByAny, lockBatches, ofDeadDispatchers, requeueLockedBatches } from './batch-store.ts';
import { releaseLeased } from './queue-store.ts';

/** Leases of dispatchers, and the release of deliveries leased to dead ones. */

export async function insertDispatcher(queries: Queries, guid: string, leaseUntil: Date): Promise<void> {
  await queries.insertInto('dispatchers').values({ guid, lease_until: leaseUntil }).execute();
}

/** False when the lease had expired and another dispatcher took over. */
export async function extendLease(queries: Queries, guid: string, leaseUntil: Date): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('dispatchers')
    .set({ lease_until: leaseUntil })
    .where('guid', '=', guid)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Skips dispatchers that another node is deleting. */
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

/** Releases all deliveries of these dispatchers. Reads the whole queue, which is rare enough to need no index. */
export async function releaseAll(transaction: Transaction, holders: readonly string[]): Promise<number> {
  const batches = await lockBatches(transaction, leasedByAny(holders));
  const released = await releaseLeased(transaction, leasedByAny(holders));
  await preferIndexes(transaction);
  return released + (await requeueLockedBatches(transaction, batches));
}

/** Releases deliveries leased to dispatchers that no longer exist; returns their number. */
export async function releaseOrphans(transaction: Transaction): Promise<number> {
  const batches = await lockBatches(transaction, ofDeadDispatchers);
  const { rows } = await sql<{ guid: string }>`
    select distinct leased_by as guid from delivery_queue
    where leased_by is not null and ${ofDeadDispatchers}`.execute(transaction);
  // By holder, so that a row that a living dispatcher claims in the meantime is left alone.
  const dead = rows.map(({ guid }) => guid);
  const released = dead.length === 0 ? 0 : await releaseLeased(transaction, leasedByAny(dead));
  await preferIndexes(transaction);
  return released + (await requeueLockedBatches(transaction, batches));
}
