import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { migrateTo, openTestDatabase } from '../../../testing/database/database.ts';
import { migrate } from '../../infrastructure/database/migrate.ts';

/** 0076: deliveries that an interrupted freeze stopped before the upgrade are resumed, too. */
const { database } = await openTestDatabase({ migrated: false, connections: 3 });
const { queries } = database;

const THEN = '2026-11-01T00:00:00Z';
const NOW = new Date('2026-11-15T12:00:00Z');
const ORGANIZATIONS = [
  { guid: '1'.repeat(32), frozenAt: null, isStopped: true, freezingAt: NOW },
  { guid: '2'.repeat(32), frozenAt: THEN, isStopped: true, freezingAt: null },
  { guid: '3'.repeat(32), frozenAt: null, isStopped: false, freezingAt: null },
];

test('only active Organizations with stopped subscriptions count as interrupted', async () => {
  await database.maintain((on) => migrateTo(on, '0072_filter_indexes'));
  for (const { guid, frozenAt, isStopped } of ORGANIZATIONS) {
    await sql`
      insert into organizations (guid, name, live, features, frozen_at, created_at, updated_at)
      values (${guid}, 'Acme', false, '{}', ${frozenAt}, ${THEN}, ${THEN})`.execute(queries);
    await sql`
      insert into subscriptions (guid, organization_guid, environment, name, url, signing_key_encrypted,
        protection_enabled, frozen, created_at, updated_at)
      values (${guid}, ${guid}, 'sandbox', 'Endpoint', 'https://x.example', '', false, ${isStopped}, ${THEN},
        ${THEN})`.execute(queries);
  }
  await migrate(database, { clock: { now: () => NOW } });
  const rows = await queries
    .selectFrom('organizations')
    .select(['guid', 'freezing_at'])
    .orderBy('guid')
    .execute();
  assert.deepEqual(
    rows,
    ORGANIZATIONS.map(({ guid, freezingAt }) => ({ guid, freezing_at: freezingAt })),
  );
});
