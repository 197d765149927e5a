import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Row } from '../../infrastructure/database/tables.ts';

/** False when the quote was used before. Waits for a concurrent transaction that uses it. */
export async function insertQuoteUse(transaction: Transaction, use: Row<'quote_uses'>): Promise<boolean> {
  const inserted = await transaction
    .insertInto('quote_uses')
    .values(use)
    .onConflict((conflict) => conflict.columns(['organization_guid', 'quote_guid']).doNothing())
    .returning('quote_guid')
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function isQuoteUsed(
  queries: Queries,
  organizationGuid: string,
  quoteGuid: string,
): Promise<boolean> {
  const use = await queries
    .selectFrom('quote_uses')
    .select('quote_guid')
    .where('organization_guid', '=', organizationGuid)
    .where('quote_guid', '=', quoteGuid)
    .executeTakeFirst();
  return use !== undefined;
}
