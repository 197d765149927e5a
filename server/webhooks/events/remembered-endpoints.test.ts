import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { queriesOfOwner } from '../../../testing/database/database.ts';
import { lockWaits, whileTableIsLocked } from '../../../testing/database/locks.ts';
import { createIngestCalls } from '../../../testing/webhooks/ingest.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';

/** A node remembers banks and endpoints of reported events. Changes by others are made here with SQL. */
const app = await createTestApp();
const { queries } = app.database;
const owner = queriesOfOwner(app.testDatabase);
const tenant = await createTenant(app);
const { send, event, assertRefused } = createIngestCalls(app, tenant);
const first = await createSubscription(app, tenant, { active: true });

/** The subscriptions that received the event, and whether its deliveries have failed. */
async function deliveriesOfNext(): Promise<{ subscription_guid: string; failed: boolean }[]> {
  const { status, body } = await send(event());
  assert.equal(status, 202, JSON.stringify(body));
  const [guid] = body.guids as [string];
  const rows = await queries
    .selectFrom('deliveries')
    .select(['subscription_guid', 'failed_at'])
    .where('event_guid', '=', guid)
    .orderBy('subscription_guid')
    .execute();
  return rows.map(({ subscription_guid, failed_at }) => ({ subscription_guid, failed: failed_at !== null }));
}

const change = (guid: string, changes: Record<string, Date | string | null>) =>
  queries.updateTable('subscriptions').set(changes).where('guid', '=', guid).execute();
const received = (guid: string) => ({ subscription_guid: guid, failed: false });

test('an event that follows another one is delivered to the same endpoints', async () => {
  assert.deepEqual(await deliveriesOfNext(), [received(first.guid)]);
  assert.deepEqual(await deliveriesOfNext(), [received(first.guid)]);
});

test('a subscription that another node creates receives the next event', async () => {
  const second = await createSubscription(app, tenant, { active: true });
  assert.deepEqual(await deliveriesOfNext(), [received(first.guid), received(second.guid)]);
  await change(second.guid, { deleted_at: app.clock.now() });
  assert.deepEqual(await deliveriesOfNext(), [received(first.guid)]);
});

test('a subscription that another node disables gets failed deliveries, until it is enabled', async () => {
  await change(first.guid, { disabled_at: app.clock.now() });
  assert.deepEqual(await deliveriesOfNext(), [{ subscription_guid: first.guid, failed: true }]);
  await change(first.guid, { disabled_at: null });
  assert.deepEqual(await deliveriesOfNext(), [received(first.guid)]);
});

test('a remembered subscription receives nothing from the time of its deletion on', async () => {
  const ending = await createSubscription(app, tenant, { active: true });
  const inAnHour = new Date(app.clock.now().getTime() + 3_600_000);
  await change(ending.guid, { scheduled_deletion_at: inAnHour });
  assert.deepEqual(await deliveriesOfNext(), [received(first.guid), received(ending.guid)]);
  app.clock.set(inAnHour);
  assert.deepEqual(await deliveriesOfNext(), [received(first.guid)]);
});

test('concurrent calls after a change are all accepted, once', async () => {
  await change(first.guid, { name: 'Changed' });
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(event())));
  assert.deepEqual(
    new Set(answers.map(({ status, body }) => `${status} ${body.created}`)),
    new Set(['202 1']),
  );
  const guids = answers.flatMap(({ body }) => body.guids as string[]);
  const { count } = await queries
    .selectFrom('deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('event_guid', 'in', guids)
    .executeTakeFirstOrThrow();
  assert.equal(count, 20);
});

test('a look-up that the database ends answers 503, with a remembered endpoint after it', async () => {
  const path = `/organizations/${tenant.organizationGuid}/banks`;
  const { body: bank } = await app.operate('POST', path, { name: 'Second', environment: 'sandbox' });
  // A change is remembered after ten seconds.
  app.clock.set(new Date(app.clock.now().getTime() + 10_000));
  assert.equal((await send(event())).status, 202);
  await whileTableIsLocked(app.database, 'banks', async () => {
    const sending = send(event({ bank_guid: bank.guid }));
    while ((await lockWaits(queries)) === 0);
    // As its timeout would.
    await sql`
      select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(queries);
    assertError(await sending, 503, 'overloaded', /database is overloaded/);
  });
  assert.equal((await send(event({ bank_guid: bank.guid }))).status, 202);
});

test('an event of a bank that was removed is refused', async () => {
  assert.equal((await send(event())).status, 202);
  await owner.deleteFrom('applications').where('bank_guid', '=', tenant.bankGuid).execute();
  await owner.deleteFrom('banks').where('guid', '=', tenant.bankGuid).execute();
  await assertRefused(() => send(event()), 422, 'no_bank', /bank_guid does not name a bank/);
});
