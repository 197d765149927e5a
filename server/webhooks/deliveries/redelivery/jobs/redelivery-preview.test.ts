import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, objectsOf } from '../../../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../../../testing/app/app.ts';
import { createTenant, PRODUCTION_HOST, tokenOf, userToken } from '../../../../../testing/app/tenant.ts';
import { guidOf, insertDeliveries } from '../../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../../../testing/webhooks/subscriptions.ts';
import { setDisabled } from '../../../../../testing/webhooks/webhooks.ts';
import { createRedeliveryJobs, event, type Options } from '../../testing/redelivery-jobs.ts';

/** The preview of a redelivery, its cancellation and its history. */
const app = await createTestApp();
const { clock } = app;
const { createOwner, recover, get, cancel, preview, run, ago } = createRedeliveryJobs(app);
const HOUR_MS = 3_600_000;

test('the preview counts what each kind would send', async () => {
  const { owner, subscription } = await createOwner('sandbox', { active: true });
  clock.advance(2 * HOUR_MS);
  await publishEvents(app, owner, 2);
  const failed = (name: string, hours: number): Options => ({
    ...{ ended: 'failed', created_at: ago(hours * HOUR_MS), event_guid: event(name) },
  });
  const later = new Date(clock.now().getTime() + 60_000);
  const guids = await insertDeliveries(app, owner, subscription, [
    failed('failed', 0.6),
    failed('redelivered', 0.7),
    { ended: 'completed', created_at: ago(0.5 * HOUR_MS), event_guid: event('redelivered') },
    failed('too old', 2),
    { created_at: ago(0.5 * HOUR_MS), dueAt: later },
    { created_at: ago(0.5 * HOUR_MS), dueAt: later, response_status: 503 },
  ]);
  await app.database.queries
    .updateTable('delivery_queue')
    .set({ scheduled_at: 'infinity' as unknown as Date })
    .where('delivery_guid', '=', String(guids.at(-1)))
    .execute();
  clock.advance(1);
  const since = ago(HOUR_MS).toISOString();
  const answer = await preview(owner, subscription, { since });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.deepEqual(answer.body, {
    ...{ subscription_guid: subscription.guid, since, until: clock.now().toISOString() },
    ...{ failed: 1, waiting: 4, due: 2, paused: 1, all: 2 },
  });
  for (const [kind, redelivered] of [
    ['waiting', 1],
    ['failed', 1],
    ['all', 0],
  ] as const) {
    const job = await recover(owner, subscription, { kind, since });
    await run();
    assert.equal((await get(owner, job)).redelivered, redelivered, kind);
  }
});

test('the preview stops counting at 10,000', async () => {
  const { owner, subscription } = await createOwner();
  const queue = Array.from({ length: 10_100 }, () => ({
    ...{ subscription_guid: subscription.guid, delivery_guid: guidOf(ago(1)) },
    ...{ due_at: clock.now(), scheduled_at: clock.now(), leased_by: null },
  }));
  await insertDeliveries(
    app,
    owner,
    subscription,
    queue.slice(0, 2_000).map((): Options => ({ ended: 'failed', created_at: ago(1) })),
  );
  await app.database.queries.insertInto('delivery_queue').values(queue).execute();
  const deliveries = queue.map(({ delivery_guid: guid }) => ({ guid, created_at: ago(1) }));
  for (let start = 0; start < deliveries.length; start += 2_000) {
    const rows = deliveries.slice(start, start + 2_000);
    await insertDeliveries(
      app,
      owner,
      subscription,
      rows.map((row): Options => ({ ...row, ended: 'completed' })),
    );
  }
  const { body } = await preview(owner, subscription);
  assert.deepEqual([body.failed, body.waiting, body.paused], [2_000, 10_000, 0]);
});

test('the preview refuses the same input as the redelivery', async () => {
  const { owner, subscription } = await createOwner();
  const later = new Date(clock.now().getTime() + HOUR_MS).toISOString();
  assertError(await preview(owner, subscription, { since: later }), 400, 'invalid_parameter', /^since/);
  assertError(await preview(owner, subscription, { until: 'now' }), 400, 'invalid_parameter', /until/);
  const stranger = await createTenant(app);
  assertError(await preview(stranger, subscription), 404, 'not_found');
  const production = await tokenOf(app, owner.organizationKey, 'subscription_events:read', {
    host: PRODUCTION_HOST,
  });
  const url = `/api/subscription_recovery_previews/${subscription.guid}`;
  assertError(await app.call({ url, token: production }), 404, 'not_found');
  await setDisabled(app, subscription, true);
  assertError(await preview(owner, subscription), 409, 'delivery_not_retryable');
});

test('a cancelled redelivery stops after its batch; sent deliveries stay', async () => {
  const { owner, subscription } = await createOwner();
  const rows = Array.from({ length: 600 }, (): Options => ({ ended: 'failed', created_at: ago(HOUR_MS) }));
  await insertDeliveries(app, owner, subscription, rows);
  const job = await recover(owner, subscription);
  assert.equal(await app.redeliveries.step(), true);
  clock.advance(1_000);
  const { status, body } = await cancel(owner, job);
  assert.equal(status, 200, JSON.stringify(body));
  const cancelled_at = clock.now().toISOString();
  assert.deepEqual(body, {
    ...job,
    ...{ state: 'cancelled', done: 500, redelivered: 500, updated_at: cancelled_at, cancelled_at },
  });
  clock.advance(1_000);
  await run();
  assert.deepEqual(await get(owner, job), body);
  assert.deepEqual((await cancel(owner, job)).body, body, 'a second time changes nothing');
  const actions = (await auditRecordsOf(app, String(job.guid))).map(({ action }) => action);
  assert.deepEqual(actions.toSorted(), ['subscription_recovery.cancel', 'subscription_recovery.create']);

  const ended = await recover(owner, subscription);
  await run();
  assert.deepEqual((await cancel(owner, ended)).body, await get(owner, ended), 'it has ended');
  assertError(await cancel(await createTenant(app), ended), 404, 'not_found');
});

test('cancelling frees one of the 10 running redeliveries', async () => {
  const { owner, subscription } = await createOwner();
  const jobs = [];
  for (let count = 0; count < 10; count += 1) jobs.push(await recover(owner, subscription));
  await cancel(owner, jobs[9] ?? {});
  await recover(owner, subscription);
  await run();
});

test('the history is filtered by kind and state and names who started a job', async () => {
  const { owner, subscription } = await createOwner();
  const other = await createSubscription(app, owner);
  const labels: Record<string, string> = {};
  for (const [label, target, kind] of [
    ['A', subscription, 'failed'],
    ['B', subscription, 'waiting'],
    ['C', other, 'all'],
    ['D', subscription, 'all'],
  ] as const) {
    const job = await recover(owner, target, { kind });
    labels[String(job.guid)] = label;
    if (label === 'A') await cancel(owner, job);
    clock.advance(1_000);
  }
  const token = await userToken(app, owner.organizationGuid);
  const list = (query: string) => app.call({ url: `/api/subscription_recoveries?${query}`, token });
  const found = async (query: string) =>
    objectsOf(await list(query))
      .map(({ guid }) => labels[String(guid)])
      .join('');
  assert.equal(await found(''), 'DCBA');
  assert.equal(await found('kind=all'), 'DC');
  assert.equal(await found(`kind=all,waiting&subscription_guid=${subscription.guid}`), 'DB');
  assert.equal(await found('state=cancelled'), 'A');
  assert.equal(await found('state=failed'), '', 'a cancelled one has not failed');
  assertError(await list('kind=some'), 400, 'invalid_parameter', /^kind must be one of .* some$/);
  const key = await tokenOf(app, owner.organizationKey, 'subscription_events:execute');
  const payload = { subscription_guid: subscription.guid, since: ago(HOUR_MS).toISOString() };
  const made = await app.call({ method: 'POST', url: '/api/subscription_recoveries', token: key, payload });
  const actor = { actor_type: made.body.actor_type, actor: made.body.actor };
  assert.deepEqual(actor, { actor_type: 'application', actor: owner.organizationKey.clientId });
  await run();
});

test('a job that an earlier version created is continued as failed', async () => {
  const { owner, subscription } = await createOwner();
  await insertDeliveries(app, owner, subscription, [{ ended: 'failed', created_at: ago(1) }]);
  const job = await recover(owner, subscription);
  await app.database.queries
    .updateTable('subscription_recoveries')
    .set({ redelivered: null, actor: null, actor_type: null })
    .where('guid', '=', String(job.guid))
    .execute();
  const { redelivered, actor } = await get(owner, job);
  assert.deepEqual([redelivered, actor], [undefined, undefined]);
  await run();
  const { state, redelivered: sent } = await get(owner, job);
  assert.deepEqual([state, sent], ['completed', 1]);
});
