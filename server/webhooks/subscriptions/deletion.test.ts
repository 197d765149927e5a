import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { auditRecordsOf, soleRecord } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import {
  createSubscription,
  eventTypesOf,
  founderOf,
  setMoments,
} from '../../../testing/webhooks/subscriptions.ts';

/** DELETE /api/subscriptions/{guid} and the scheduled deletion (specification, States). */
const testDatabase = await createTestDatabase();
const environment = { PORTICO_SUPPORT_EMAIL: 'help@portico.test' };
const app = await createTestApp({ testDatabase, environment });
const other = await createTestApp({ testDatabase, environment, clock: app.clock });
after(() => testDatabase.drop());
const tenant = await createTenant(app);
const founder = founderOf(app, tenant);
const DAY = 24 * 3_600_000;
const LIFE = ['subscription.storing', 'subscription.deleting'];

test('a deletion is scheduled 24 hours ahead, with an event and an audit record', async () => {
  const { guid, signing_key: _, ...created } = await createSubscription(app, tenant);
  app.clock.advance(1_000);
  const { status, body } = await founder('DELETE', `/${guid}`);
  const now = app.clock.now();
  const scheduled_deletion_at = new Date(now.getTime() + DAY).toISOString();
  assert.equal(status, 200);
  const changed = { state: 'deleting', updated_at: now.toISOString(), scheduled_deletion_at };
  assert.deepEqual(body, { guid, ...created, ...changed });
  assert.deepEqual(await eventTypesOf(app, guid), LIFE);
  const record = soleRecord(await auditRecordsOf(app, guid, 'subscription.delete'));
  assert.deepEqual([record.actor_type, record.changes], ['user', { scheduled_deletion_at }]);
});

test('a second deletion changes nothing: no later time, no event, no record', async () => {
  const { guid } = await createSubscription(app, tenant);
  const { body: first } = await founder('DELETE', `/${guid}`);
  app.clock.advance(3_600_000);
  const { status, body } = await founder('DELETE', `/${guid}`);
  assert.deepEqual([status, body], [200, first]);
  assert.deepEqual(await eventTypesOf(app, guid), LIFE);
  soleRecord(await auditRecordsOf(app, guid, 'subscription.delete'));
});

test('concurrent deletions on two nodes take effect once', async () => {
  const { guid } = await createSubscription(app, tenant);
  // Guids of one millisecond are ordered within a node only.
  app.clock.advance(1);
  const nodes = [founder, founderOf(other, tenant)];
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => nodes[index % 2]?.('DELETE', `/${guid}`)),
  );
  for (const answer of answers) assert.deepEqual(answer?.body, answers[0]?.body);
  assert.deepEqual(await eventTypesOf(app, guid), LIFE);
});

test('a protected subscription cannot be deleted; the message names the support address', async () => {
  const { guid } = await createSubscription(app, tenant);
  await app.operate('PATCH', `/subscriptions/${guid}`, { protection_enabled: true });
  const refused = await founder('DELETE', `/${guid}`);
  assertError(refused, 409, 'subscription_protected', /help@portico\.test/);
  assert.equal(refused.body.error, 'conflict');
  const { body } = await founder('GET', `/${guid}`);
  assert.deepEqual([body.state, body.protection_enabled], ['storing', true]);
  assert.deepEqual(await eventTypesOf(app, guid), ['subscription.storing']);
  await app.operate('PATCH', `/subscriptions/${guid}`, { protection_enabled: false });
  assert.equal((await founder('DELETE', `/${guid}`)).status, 200);
});

test('a failed subscription can be deleted too', async () => {
  const { guid } = await createSubscription(app, tenant);
  await setMoments(app, guid, { failed_at: app.clock.now() });
  assert.equal((await founder('GET', `/${guid}`)).body.state, 'failed');
  const { status, body } = await founder('DELETE', `/${guid}`);
  assert.deepEqual([status, body.state], [200, 'deleting']);
});

test('a due deletion is completed once by any node, with an event', async () => {
  const rolled = await createTenant(app);
  const { guid } = await createSubscription(app, rolled, { environment: 'production' });
  const { guid: kept } = await createSubscription(app, rolled);
  await founderOf(app, rolled)('DELETE', `/${guid}`);
  app.clock.advance(DAY - 1);
  await app.subscriptions.sweepDeleted();
  assert.deepEqual(await eventTypesOf(app, guid), LIFE, 'not a moment too early');
  app.clock.advance(1);
  await Promise.all([app, other, app, other].map((node) => node.subscriptions.sweepDeleted()));
  await app.subscriptions.sweepDeleted();
  assert.deepEqual(await eventTypesOf(app, guid), [...LIFE, 'subscription.deleted']);
  assert.deepEqual(await eventTypesOf(app, kept), ['subscription.storing']);
  const { environment: where } = await app.database.queries
    .selectFrom('events')
    .select('environment')
    .where('object_guid', '=', guid)
    .where('event_type', '=', 'subscription.deleted')
    .executeTakeFirstOrThrow();
  assert.equal(where, 'production');
  const record = soleRecord(await auditRecordsOf(app, guid, 'subscription.remove'));
  assert.deepEqual(
    [record.actor_type, record.actor, record.organization_guid],
    ['system', 'portico', rolled.organizationGuid],
  );
});

test('deletions beyond one batch are all completed', async () => {
  const many = await createTenant(app);
  const { guid } = await createSubscription(app, many);
  const { queries } = app.database;
  const row = await queries
    .selectFrom('subscriptions')
    .selectAll()
    .where('guid', '=', guid)
    .executeTakeFirstOrThrow();
  const scheduled_deletion_at = app.clock.now();
  const rows = Array.from({ length: 250 }, () => ({ ...row, guid: app.guids.next(), scheduled_deletion_at }));
  await queries.insertInto('subscriptions').values(rows).execute();
  assert.equal(await app.subscriptions.sweepDeleted(), 250);
  const left = await queries
    .selectFrom('subscriptions')
    .select('guid')
    .where('organization_guid', '=', many.organizationGuid)
    .where('deleted_at', 'is', null)
    .execute();
  assert.deepEqual(left, [{ guid }]);
});
