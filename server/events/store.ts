import type { Insertable } from 'kysely';
import type { Transaction } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';

export async function insertEvents(
  transaction: Transaction,
  events: readonly Insertable<Tables['events']>[],
): Promise<void> {
  await transaction.insertInto('events').values(events).execute();
}
