import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { guidOf } from '../../../testing/webhooks/deliveries.ts';
import { MAX_COUNTED } from '../../infrastructure/database/paging/paging.ts';
import { countWindow } from './window-store.ts';
import { createEventWindows } from './windows.ts';

const DAY_MS = 24 * 3_600_000;
const RETENTION_DAYS = 3_650;

const app = await createTestApp();

test('a count beyond the limit covers all of the retention, however long it is', async () => {
  const { organizationGuid } = await createTenant(app);
  const now = app.clock.now();
  const rows = Array.from({ length: MAX_COUNTED }, () => ({
    ...{ guid: guidOf(now), organization_guid: organizationGuid, bank_guid: null, created_at: now },
    ...{ event_type: 'transfer.completed', object_guid: guidOf(now), environment: 'sandbox' as const },
  }));
  for (let start = 0; start < rows.length; start += 5_000)
    await app.database.queries
      .insertInto('events')
      .values(rows.slice(start, start + 5_000))
      .execute();
  let from = now;
  const counters = {
    read: async (_: string, __: readonly string[], window: { from: Date }) => {
      from = window.from;
      return [];
    },
  };
  const windows = createEventWindows({ counters, retentionDays: RETENTION_DAYS });
  const estimateSince = (since: Date) =>
    windows.count(app.database.queries, {
      ...{ organizationGuid, environment: 'sandbox', since, until: new Date(now.getTime() + 1) },
    });
  const oldest = new Date(now.getTime() - RETENTION_DAYS * DAY_MS);
  // With the event of the new bank.
  assert.equal(await estimateSince(oldest), MAX_COUNTED + 1);
  assert.ok(from <= oldest, `${from.toISOString()}`);
  await estimateSince(new Date('0000-01-01T00:00:00Z'));
  assert.ok(from <= oldest && from.getTime() > oldest.getTime() - 366 * DAY_MS, `${from.toISOString()}`);
});

test('a past window is counted first, however many events follow it', async () => {
  const { organizationGuid } = await createTenant(app);
  const [since, until] = [60, 30].map(
    (minutes) => new Date(app.clock.now().getTime() - minutes * 60_000),
  ) as [Date, Date];
  /** One every second, whose guids are as much older than the event. */
  const insert = (count: number, from: Date, olderMs = 0) =>
    sql`
      insert into events (guid, organization_guid, environment, event_type, object_guid, created_at)
      select (lpad(to_hex(ms - ${olderMs}), 12, '0') || '7' || substr(md5(random()::text), 1, 3) || '8'
              || substr(md5(random()::text), 1, 15))::uuid,
             ${organizationGuid}::uuid, 'sandbox', 'transfer.completed', ${organizationGuid}::uuid,
             to_timestamp(ms / 1000.0)
      from (select ${from.getTime()}::bigint + n * 1000 as ms from generate_series(0, ${count - 1}::int) as n) as each`.execute(
      app.database.queries,
    );
  const count = () =>
    countWindow(app.database.queries, { organizationGuid, environment: 'sandbox', since, until }, 40);
  await insert(20, since);
  await insert(5, since, 10 * 60_000);
  assert.deepEqual(await count(), { counted: 25, isPartial: false });
  await insert(50, until);
  assert.deepEqual(await count(), { counted: 25, isPartial: true });
  await insert(30, new Date(until.getTime() - 30_000));
  assert.deepEqual(await count(), { counted: 45, isPartial: true });
});
