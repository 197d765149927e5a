import type { Updateable } from 'kysely';
import type { Transaction } from '../../infrastructure/database/database.ts';
import { notAmong } from '../../infrastructure/database/not-frozen.ts';
import type { Tables } from '../../infrastructure/database/tables.ts';
import type { SubscriptionRow } from './state.ts';
import { COLUMNS, stateAt } from './store.ts';

const qualified = COLUMNS.map((column) => `subscriptions.${column}` as const);

/** `refused`: Organizations whose events are refused. */
export type Batch = { limit: number; refused: ReadonlySet<string> };

/** Skips rows that another node has locked. */
const unmarked = (transaction: Transaction, { limit, refused }: Batch) =>
  transaction
    .selectFrom('subscriptions')
    .select('guid')
    .where('deleted_at', 'is', null)
    .where('frozen', '=', false)
    .where(notAmong('subscriptions.organization_guid', refused))
    .limit(limit)
    .forUpdate()
    .skipLocked();

function mark(
  transaction: Transaction,
  due: ReturnType<typeof unmarked>,
  changes: Updateable<Tables['subscriptions']>,
): Promise<SubscriptionRow[]> {
  return transaction
    .with('due', () => due)
    .updateTable('subscriptions')
    .from('due')
    .set(changes)
    .whereRef('subscriptions.guid', '=', 'due.guid')
    .returning(qualified)
    .execute();
}

export function markDeleted(transaction: Transaction, now: Date, batch: Batch): Promise<SubscriptionRow[]> {
  const due = unmarked(transaction, batch)
    .where('scheduled_deletion_at', '<=', now)
    .orderBy('scheduled_deletion_at');
  return mark(transaction, due, { deleted_at: now, updated_at: now });
}

export function markFailed(
  transaction: Transaction,
  { failingBefore, now }: { failingBefore: Date; now: Date },
  batch: Batch,
): Promise<SubscriptionRow[]> {
  const due = unmarked(transaction, batch)
    .where('failed_at', 'is', null)
    .where('deliveries_failing_since', '<=', failingBefore)
    .where('disabled_at', 'is', null)
    .where('paused_at', 'is', null)
    .where(stateAt(now), '!=', 'deleted')
    .orderBy('deliveries_failing_since');
  return mark(transaction, due, { failed_at: now, updated_at: now });
}
