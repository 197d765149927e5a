import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../../testing/app/app.ts';
import { later } from '../runtime/clock.ts';
import { deleteCreatedUntil } from './delete-old.ts';

const { database, clock } = await createTestApp();
const ROWS = 3_500;

test('old rows are deleted in batches that do not read deleted rows again', async () => {
  const now = clock.now();
  await database.transaction(async (transaction) => {
    await sql`
      insert into idempotency_keys (owner, key, claim, fingerprint, locked_until, created_at)
      select 'owner', n, gen_random_uuid(), '', ${now}, ${now}::timestamptz + n * interval '1 ms'
      from generate_series(1, ${ROWS}::int) as n`.execute(transaction);
    // The index keeps rows that this transaction deletes, as it keeps those that an older snapshot may read.
    const within = { transaction: <T>(work: (inner: typeof transaction) => Promise<T>) => work(transaction) };
    assert.equal(await deleteCreatedUntil(within, 'idempotency_keys', later(now, ROWS - 1)), ROWS - 1);
    const { rows } = await sql<{ read: number }>`
      select pg_stat_get_xact_tuples_returned('idempotency_keys_by_creation'::regclass) as read`.execute(
      transaction,
    );
    // The last row of a batch is the first that the next one reads.
    assert.equal(rows[0]?.read, ROWS - 1 + 3);
    const left = await transaction.selectFrom('idempotency_keys').select('created_at').execute();
    assert.deepEqual(left, [{ created_at: later(now, ROWS) }]);
  });
});
