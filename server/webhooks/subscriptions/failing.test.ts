import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { auditRecordsOf, soleRecord } from '../../../testing/api/answers.ts';
import { createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import {
  createSubscription,
  eventTypesOf,
  founderOf,
  setMoments,
} from '../../../testing/webhooks/subscriptions.ts';

/** A subscription fails after a week (specification, Events 7; contract, section 7). */
const testDatabase = await createTestDatabase();
const app = await createTestApp({ testDatabase });
const other = await createTestApp({ testDatabase, clock: app.clock });
after(() => testDatabase.drop());
const WEEK = 7 * 24 * 3_600_000;
const weekAgo = (offsetMs = 0) => new Date(app.clock.now().getTime() - WEEK + offsetMs);

async function failingSince(since: Date, moments: Parameters<typeof setMoments>[2] = {}) {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant);
  await setMoments(app, guid, { deliveries_failing_since: since, ...moments });
  return { guid, show: async () => (await founderOf(app, tenant)('GET', `/${guid}`)).body };
}

test('a subscription fails once after seven days of failing, with an event and an audit record', async () => {
  const { guid, show } = await failingSince(weekAgo(1));
  await app.subscriptions.sweepFailed();
  assert.equal((await show()).state, 'storing', 'not a moment too early');
  app.clock.advance(1);
  await Promise.all([app, other, app, other].map((node) => node.subscriptions.sweepFailed()));
  app.clock.advance(1_000);
  await app.subscriptions.sweepFailed();
  const body = await show();
  assert.deepEqual([body.state, body.deliveries_failing_since], ['failed', weekAgo(-1_000).toISOString()]);
  assert.deepEqual(await eventTypesOf(app, guid), ['subscription.storing', 'subscription.failed']);
  const record = soleRecord(await auditRecordsOf(app, guid, 'subscription.fail'));
  assert.deepEqual(
    [record.actor_type, record.actor, record.changes],
    ['system', 'portico', { deliveries_failing_since: body.deliveries_failing_since }],
  );
});

test('active and deleting subscriptions fail, too', async () => {
  const active = await failingSince(weekAgo(), { activated_at: weekAgo(-1) });
  const deleting = await failingSince(weekAgo(), {
    scheduled_deletion_at: new Date(app.clock.now().getTime() + 1),
  });
  assert.equal(await app.subscriptions.sweepFailed(), 2);
  assert.equal((await active.show()).state, 'failed');
  assert.equal((await deleting.show()).state, 'deleting');
  assert.deepEqual(await eventTypesOf(app, deleting.guid), ['subscription.storing', 'subscription.failed']);
});

test('disabled, deleted and failed subscriptions are not marked as failed', async () => {
  const now = app.clock.now();
  const guids: string[] = [];
  for (const moments of [
    { disabled_at: now },
    { scheduled_deletion_at: now },
    { scheduled_deletion_at: now, deleted_at: now },
    { failed_at: now },
  ])
    guids.push((await failingSince(weekAgo(), moments)).guid);
  assert.equal(await app.subscriptions.sweepFailed(), 0);
  for (const guid of guids) assert.deepEqual(await eventTypesOf(app, guid), ['subscription.storing']);
});

test('a subscription that recovers during the sweep is not marked as failed', async () => {
  const { guid, show } = await failingSince(weekAgo());
  const at = app.clock.now();
  let sweep: Promise<number> | undefined;
  await app.database.transaction(async (transaction) => {
    await app.subscriptions.applyOutcomes(transaction, [
      { guid, succeededAt: at, failingSince: undefined, at, url: 'https://partner.example/hook' },
    ]);
    sweep = other.subscriptions.sweepFailed();
    assert.equal(await sweep, 0, 'locked rows are left for the next sweep');
  });
  assert.equal(await other.subscriptions.sweepFailed(), 0);
  assert.equal((await show()).state, 'active');
});

test('a failed subscription receives no events, and its outcomes are ignored', async () => {
  const { guid, show } = await failingSince(weekAgo());
  await app.subscriptions.sweepFailed();
  const before = await show();
  const at = app.clock.now();
  await app.database.transaction((transaction) =>
    app.subscriptions.applyOutcomes(transaction, [
      { guid, succeededAt: at, failingSince: undefined, at, url: 'https://partner.example/hook' },
    ]),
  );
  assert.deepEqual(await show(), before);
  const [endpoint] = await app.subscriptions.endpoints([guid]);
  assert.equal(endpoint?.delivers, false);
});
