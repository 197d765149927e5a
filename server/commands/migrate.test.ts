import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../testing/app/app.ts';
import { queriesOfOwner } from '../../testing/database/database.ts';
import { tryRunUnderLock } from '../infrastructure/database/advisory-lock.ts';
import { migrateDatabase } from './migrate.ts';
import { requireReadyDatabase } from './ready.ts';

const INDEX = 'delivery_queue_early';
const app = await createTestApp();
const { ownerUrl } = app.testDatabase;
const migrated = () => migrateDatabase({ app, log: app.log, ownerUrl });
const warnings = () => app.logged.filter((line) => line.includes('indexes are missing; run portico migrate'));

test('migrate and every start tell that an index is missing, until it is built', async () => {
  await requireReadyDatabase(app);
  assert.deepEqual(warnings(), []);
  await sql`drop index ${sql.table(INDEX)}`.execute(queriesOfOwner(app.testDatabase));
  // As by another migrate.
  await tryRunUnderLock(app.database, 'build partition indexes', async () => {
    assert.deepEqual(await migrated(), { applied: [], missingIndexes: [INDEX] });
  });
  await requireReadyDatabase(app);
  assert.equal(warnings().length, 1);
  assert.match(warnings()[0] ?? '', new RegExp(INDEX));
  assert.deepEqual(await migrated(), { applied: [], missingIndexes: [] });
  await requireReadyDatabase(app);
  assert.equal(warnings().length, 1);
});
