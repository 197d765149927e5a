import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../../testing/app/app.ts';
import { operator } from '../../../testing/app/cells.ts';
import { holdBatch, passUntil } from '../../../testing/app/freezes.ts';
import { LIMITED } from '../../../testing/app/patience.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { publishEvents } from '../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import {
  createNodes,
  guidsAt,
  pass,
  queueOf,
  subscriptionRow,
  until,
} from '../../../testing/webhooks/webhooks.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import { updateOrganization, updateSubscriptions } from './freeze-store.ts';

/** A freeze that does not end leaves an Organization whose deliveries are sent. */
const { a, b, tenant, endpoint, subscription } = await createNodes();
const { organizationGuid } = tenant;
const nodes = [a, b];
const IN_PROGRESS = '%from delivery_batches as b where b.subscription_guid = s.guid%';

async function assertSending(): Promise<void> {
  assert.equal((await subscriptionRow(a, subscription)).frozen, false);
  const [event = ''] = await publishEvents(a, tenant);
  await pass(3_000, nodes);
  assert.ok(guidsAt(endpoint).includes(event));
}

const isStopped = async () => (await subscriptionRow(a, subscription)).frozen;

/** Ends the connection of the freeze while it waits for deliveries. */
async function loseConnection(): Promise<void> {
  const { reserved } = b.database;
  const waiting = sql`select from pg_stat_activity where datname = current_database() and query like ${IN_PROGRESS}`;
  // The lock is an open transaction, for which the freeze would wait before.
  await until(async () => {
    await pass(10, nodes, 10);
    return (await waiting.execute(reserved)).rows.length > 0;
  }, 'the wait for deliveries');
  await b.database.transaction(async (transaction) => {
    await sql`lock table delivery_batches in access exclusive mode`.execute(transaction);
    const end = sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like ${IN_PROGRESS}`;
    await until(async () => (await end.execute(reserved)).rows.length > 0, 'the query of the freeze');
  });
}

test('a freeze that loses its connection lets the deliveries go on', async () => {
  const batch = await holdBatch(a, subscription.guid);
  const freezing = a.transfers.freeze(operator, organizationGuid);
  const lost = assert.rejects(freezing, /terminat/);
  await until(isStopped, 'the end of sending');
  await loseConnection();
  await passUntil(nodes, lost);
  await batch.release();
  await assertSending();
});

test('deliveries go on after a process ended during a freeze', async () => {
  await a.database.transaction(async (transaction) => {
    await updateOrganization(transaction, organizationGuid, { freezing_at: a.clock.now() });
    await updateSubscriptions(transaction, organizationGuid, true);
  });
  await pass(240_000, nodes, 30_000);
  await b.clusterTasks.runOnce();
  assert.ok(await isStopped(), 'the freeze may be in progress');
  const refused = await b.transfers.freeze(operator, organizationGuid);
  assert.ok(isFailure(refused) && /is being frozen by another call/.test(refused.message));
  await pass(60_000, nodes, 30_000);
  await b.clusterTasks.runOnce();
  await assertSending();
  assert.ok(b.logged.some((line) => line.includes('resumed deliveries after an interrupted freeze')));
});

test('the task leaves a frozen Organization', async () => {
  assert.ok(!isFailure(await a.transfers.freeze(operator, organizationGuid)));
  await pass(360_000, nodes, 60_000);
  await b.clusterTasks.runOnce();
  assert.ok(await isStopped());
  await a.transfers.unfreeze(operator, organizationGuid);
});

test('a freeze does not end after another call unfroze the Organization', async () => {
  const batch = await holdBatch(a, subscription.guid);
  const freezing = a.transfers.freeze(operator, organizationGuid);
  await until(isStopped, 'the end of sending');
  assert.ok(!isFailure(await b.transfers.unfreeze(operator, organizationGuid)));
  await batch.release();
  const refused = await passUntil(nodes, freezing);
  assert.ok(isFailure(refused) && /was unfrozen by another call/.test(refused.message));
  await assertSending();
});

test(
  'a freeze takes over from a dispatcher of a restored backup, without one that sends',
  LIMITED,
  async () => {
    const app = await createTestApp();
    const restored = await createTenant(app);
    const waiting = await createSubscription(app, restored);
    const guid = app.guids.next();
    const leaseMs = 10_000;
    const lease_until = new Date(app.clock.now().getTime() + leaseMs);
    await app.database.queries.insertInto('dispatchers').values({ guid, lease_until }).execute();
    await app.database.queries.updateTable('delivery_queue').set({ leased_by: guid }).execute();
    const freezing = app.transfers.freeze(operator, restored.organizationGuid);
    await until(async () => (await subscriptionRow(app, waiting)).frozen, 'the end of sending');
    app.clock.advance(leaseMs + 1);
    const frozen = await freezing;
    assert.ok(!isFailure(frozen), isFailure(frozen) ? frozen.message : '');
    assert.deepEqual(
      (await queueOf(app, waiting)).map(({ leased_by }) => leased_by),
      [null],
    );
  },
);
