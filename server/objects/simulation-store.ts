import { sql } from 'kysely';
import type { Queries, Transaction } from '../infrastructure/database/database.ts';
import { notAmong, notFrozen } from '../infrastructure/database/not-frozen.ts';
import type { ObjectRow } from './store.ts';

export type Moved = Pick<ObjectRow, 'guid' | 'state' | 'details' | 'ending' | 'next_move_at'>;

/** Objects of these types, except those of Organizations whose events are refused. */
export type Simulated = { types: readonly string[]; refused: ReadonlySet<string> };

/** Locks due objects, the longest overdue first. Skips objects that another node or a report has locked. */
export function lockDue(
  transaction: Transaction,
  { types, refused }: Simulated,
  now: Date,
  limit: number,
): Promise<ObjectRow[]> {
  return transaction
    .selectFrom('objects')
    .selectAll()
    .where('type', 'in', types)
    .where('next_move_at', '<=', now)
    .where(notFrozen('objects.organization_guid'))
    .where(notAmong('objects.organization_guid', refused))
    .orderBy('next_move_at')
    .orderBy('guid')
    .limit(limit)
    .forNoKeyUpdate()
    .skipLocked()
    .execute();
}

/** One statement for any number of objects. */
export async function updateMoved(
  transaction: Transaction,
  moved: readonly Moved[],
  now: Date,
): Promise<void> {
  await sql`
    update objects
    set state = moved.state, details = moved.details, ending = moved.ending, next_move_at = moved.next_move_at,
      updated_at = ${now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(moved)}::jsonb)
      as moved(guid uuid, state text, details jsonb, ending text, next_move_at timestamptz)
    where objects.guid = moved.guid`.execute(transaction);
}

export async function selectNextMoveAt(
  queries: Queries,
  { types, refused }: Simulated,
): Promise<Date | undefined> {
  const next = await queries
    .selectFrom('objects')
    .select('next_move_at')
    .where('next_move_at', 'is not', null)
    .where('type', 'in', types)
    .where(notFrozen('objects.organization_guid'))
    .where(notAmong('objects.organization_guid', refused))
    .orderBy('next_move_at')
    .limit(1)
    .executeTakeFirst();
  return next?.next_move_at ?? undefined;
}
