import { sql } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { preferIndexes } from '../database/planner.ts';
import { dissolveConsignments, ofHolders } from './consignment-store.ts';

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

/** Takes the dispatchers off the list whose lease has run out. */
export async function deleteExpiredDispatchers(
  transaction: Transaction,
  now: Date,
  except: string,
): Promise<string[]> {
  const rows = await transaction
    .deleteFrom('dispatchers')
    .where('lease_until', '<', now)
    .where('guid', '!=', except)
    .returning('guid')
    .execute();
  return rows.map((row) => row.guid);
}

export async function deleteDispatcher(transaction: Transaction, guid: string): Promise<void> {
  await transaction.deleteFrom('dispatchers').where('guid', '=', guid).execute();
}

/** Everything that they held, back into the queue. Reads the whole queue; that is rare enough to need no index. */
export async function releaseAll(transaction: Transaction, holders: readonly string[]): Promise<number> {
  const { numAffectedRows } = await sql`
    update delivery_queue set leased_by = null where leased_by = any(${holders}::uuid[])`.execute(
    transaction,
  );
  await preferIndexes(transaction);
  return Number(numAffectedRows ?? 0) + (await dissolveConsignments(transaction, ofHolders(holders)));
}
