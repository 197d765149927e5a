import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../../testing/app/app.ts';
import { guidOf } from '../../../../testing/webhooks/deliveries.ts';
import { createOrphans } from './orphans.ts';

const app = await createTestApp();
const { queries } = app.database;
const { sweepOrphans } = createOrphans({ database: app.database, log: app.log });

test('deliveries leased to a missing dispatcher are requeued, and no others', async () => {
  const now = app.clock.now();
  const [living, dead, gone] = [guidOf(now), guidOf(now), guidOf(now)];
  const row = (leased_by: string | null) => ({
    ...{ subscription_guid: guidOf(now), delivery_guid: guidOf(now), leased_by },
    ...{ due_at: now, scheduled_at: now },
  });
  await queries.insertInto('dispatchers').values({ guid: living, lease_until: now }).execute();
  const rows = [row(living), row(dead), row(null), row(dead), row(gone)];
  await queries.insertInto('delivery_queue').values(rows).execute();

  assert.equal(await sweepOrphans(), 3);
  const left = await queries.selectFrom('delivery_queue').selectAll().orderBy('delivery_guid').execute();
  assert.deepEqual(
    left,
    rows.map((each) => ({ ...each, leased_by: each.leased_by === living ? living : null })),
  );
  assert.equal(await sweepOrphans(), 0);
});
