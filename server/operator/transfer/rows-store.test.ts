import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../../testing/app.ts';
import { beginSnapshot, markAsTransfer } from './rows-store.ts';

const { database } = await createTestApp();
const LIMITS = ['statement_timeout', 'idle_in_transaction_session_timeout'];

/** The limits of these connections are those of requests, as behind a pooler. */
for (const [name, begin] of Object.entries({ export: beginSnapshot, import: markAsTransfer }))
  test(`the limits of the role do not apply to an ${name}`, async () => {
    const select = sql<{ setting: string }>`select setting from pg_settings where name = any(${LIMITS})`;
    const shown = await database.transaction(async (transaction) => {
      await begin(transaction);
      return select.execute(transaction);
    });
    assert.deepEqual(shown.rows, [{ setting: '0' }, { setting: '0' }]);
    const outside = await select.execute(database.queries);
    assert.deepEqual(outside.rows, [{ setting: '15000' }, { setting: '15000' }]);
  });
