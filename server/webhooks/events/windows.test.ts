import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../testing/app.ts';
import { guidOf } from '../../../testing/deliveries.ts';
import { createTenant } from '../../../testing/tenant.ts';
import { MAX_COUNTED } from '../../infrastructure/database/paging/paging.ts';
import { createEventWindows } from './windows.ts';

const DAY_MS = 24 * 3_600_000;
const RETENTION_DAYS = 3_650;

test('an estimate covers all of the retention, however long it is', async () => {
  const app = await createTestApp();
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
    windows.estimate(app.database.queries, {
      ...{ organizationGuid, environment: 'sandbox', since, until: new Date(now.getTime() + 1) },
    });
  const oldest = new Date(now.getTime() - RETENTION_DAYS * DAY_MS);
  assert.equal(await estimateSince(oldest), MAX_COUNTED);
  assert.ok(from <= oldest, `${from.toISOString()}`);
  await estimateSince(new Date('0000-01-01T00:00:00Z'));
  assert.ok(from <= oldest && from.getTime() > oldest.getTime() - 366 * DAY_MS, `${from.toISOString()}`);
});
