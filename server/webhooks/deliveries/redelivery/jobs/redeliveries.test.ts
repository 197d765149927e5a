import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, objectsOf, soleRecord } from '../../../../../testing/answers.ts';
import { issueToken } from '../../../../../testing/api-callers.ts';
import { assertError, createTestApp } from '../../../../../testing/app.ts';
import { createCustomer } from '../../../../../testing/customers.ts';
import { deliveriesOf, guidOf, insertDeliveries } from '../../../../../testing/deliveries.ts';
import { createSubscription } from '../../../../../testing/subscriptions.ts';
import { createTenant, PRODUCTION_HOST, tokenOf, userToken } from '../../../../../testing/tenant.ts';
import { createRedeliveryJobs, event, type Options, once } from '../../testing/redelivery-jobs.ts';

/** POST /api/subscription_recoveries: redelivery of failed deliveries in a window (contract, section 7). */
const app = await createTestApp();
const { clock, testDatabase } = app;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const { createOwner, post, recover, get, run, resent, ago } = createRedeliveryJobs(app);
const since = () => ago(DAY_MS).toISOString();

test('only failed deliveries in the window are redelivered', async () => {
  const { owner, subscription } = await createOwner();
  const other = await createSubscription(app, owner, { environment: 'production' });
  const from = ago(10 * HOUR_MS);
  const to = ago(5 * HOUR_MS);
  const before = (moment: Date) => new Date(moment.getTime() - 1);
  const failed: Options = { ended: 'failed', at: ago(HOUR_MS) };
  const known = await insertDeliveries(app, owner, subscription, [
    { ...failed, created_at: before(from), event_guid: event('too old') },
    { ...failed, created_at: from, event_guid: event('first') },
    { ...failed, created_at: ago(7 * HOUR_MS), event_guid: event('amid'), bank_guid: owner.bankGuid },
    { ...failed, created_at: before(to), event_guid: event('last') },
    { ...failed, created_at: to, event_guid: event('too new') },
    { ended: 'completed', created_at: ago(6 * HOUR_MS), event_guid: event('delivered') },
    { created_at: ago(6 * HOUR_MS), event_guid: event('waiting') },
  ]);
  const created_at = ago(6 * HOUR_MS);
  const others = await insertDeliveries(app, owner, other, [{ ...failed, created_at }]);
  const redelivery = await recover(owner, subscription, {
    since: from.toISOString(),
    until: to.toISOString(),
  });
  const now = clock.now().toISOString();
  assert.deepEqual(redelivery, {
    guid: redelivery.guid,
    subscription_guid: subscription.guid,
    environment: 'sandbox',
    since: from.toISOString(),
    until: to.toISOString(),
    kind: 'failed',
    state: 'running',
    total: 3,
    done: 0,
    redelivered: 0,
    actor_type: 'user',
    actor: 'f'.repeat(32),
    created_at: now,
    updated_at: now,
  });
  assert.deepEqual(await resent(subscription, known), {}, 'creating it sends nothing yet');

  clock.advance(1_000);
  await run();
  assert.deepEqual(await resent(subscription, known), once('first', 'amid', 'last'));
  assert.deepEqual(Object.keys(await resent(other, others)).length, 1, 'but for the creation of the other');
  const completed_at = clock.now().toISOString();
  const ended = { state: 'completed', done: 3, redelivered: 3, updated_at: completed_at, completed_at };
  assert.deepEqual(await get(owner, redelivery), { ...redelivery, ...ended });

  const made = (await deliveriesOf(app, subscription)).find(
    ({ guid, event_guid }) => !known.includes(guid) && event_guid === event('amid'),
  );
  const original = (await deliveriesOf(app, subscription)).find(({ guid }) => guid === known[2]);
  for (const field of ['organization_guid', 'environment', 'bank_guid', 'event_type', 'object_guid'] as const)
    assert.equal(made?.[field], original?.[field], field);
  const queued = app.database.queries.selectFrom('delivery_queue').selectAll();
  assert.ok(
    await queued.where('delivery_guid', '=', String(made?.guid)).executeTakeFirst(),
    'it is to be sent',
  );
});

test('an event gets at most one new delivery', async () => {
  const { owner, subscription } = await createOwner();
  const failed = (name: string, hours: number): Options => ({
    ...{ ended: 'failed', at: ago(HOUR_MS), created_at: ago(hours * HOUR_MS), event_guid: event(name) },
  });
  const known = await insertDeliveries(app, owner, subscription, [
    failed('resent and waits', 9),
    { created_at: ago(2 * HOUR_MS), event_guid: event('resent and waits') },
    failed('resent and came', 9),
    { ended: 'completed', created_at: ago(HOUR_MS), event_guid: event('resent and came') },
    failed('came, then not', 9),
    failed('three times', 9),
    failed('three times', 8),
    failed('three times', 7),
    failed('again, outside', 9),
    failed('again, outside', 3),
  ]);
  const redelivery = await recover(owner, subscription, { until: ago(4 * HOUR_MS).toISOString() });
  assert.equal(redelivery.total, 7);
  await run();
  assert.deepEqual(
    await resent(subscription, known),
    once('came, then not', 'three times', 'again, outside'),
  );
  const { state, total, done, redelivered } = await get(owner, redelivery);
  assert.deepEqual([state, total, done, redelivered], ['completed', 7, 7, 3]);

  const second = await recover(owner, subscription);
  await run();
  assert.deepEqual(
    await resent(subscription, known),
    once('came, then not', 'three times', 'again, outside'),
    'a second redelivery finds all of it resent',
  );
  const { done: processed, redelivered: none } = await get(owner, second);
  assert.deepEqual([processed, none], [8, 0], 'it says so');
});

test('redeliveries of one subscription run sequentially', async () => {
  const { owner, subscription } = await createOwner();
  const deliveries = Array.from(
    { length: 700 },
    (): Options => ({ ended: 'failed', created_at: ago(HOUR_MS) }),
  );
  const known = await insertDeliveries(app, owner, subscription, deliveries);
  const twin = await createTestApp({ testDatabase, clock });
  await recover(owner, subscription);
  await recover(owner, subscription);
  for (let round = 0; round < 4; round++)
    await Promise.all([app.redeliveries.step(), twin.redeliveries.step()]);
  await run();
  const counts = Object.values(await resent(subscription, known));
  assert.deepEqual([counts.length, Math.max(...counts)], [700, 1]);
});

test('a subscription has at most 10 running redeliveries, even with concurrent requests', async () => {
  const { owner, subscription } = await createOwner();
  const ask = () => post(owner, { subscription_guid: subscription.guid, since: since() });
  const answers = await Promise.all(Array.from({ length: 14 }, ask));
  assert.equal(answers.filter(({ status }) => status === 201).length, 10);
  for (const refused of answers.filter(({ status }) => status !== 201))
    assertError(refused, 422, 'recovery_limit_reached', /reached \(10\)/);
  await run();
  assert.equal((await ask()).status, 201);
});

test('deliveries that fail after the redelivery was created are not included', async () => {
  const { owner, subscription } = await createOwner();
  const known = await insertDeliveries(app, owner, subscription, [
    { ended: 'failed', created_at: ago(HOUR_MS), event_guid: event('before') },
    { created_at: ago(HOUR_MS), event_guid: event('after') },
  ]);
  const redelivery = await recover(owner, subscription);
  clock.advance(1);
  const fail = app.database.queries.updateTable('deliveries').set({ failed_at: clock.now() });
  await fail.where('guid', '=', String(known[1])).execute();
  await run();
  assert.deepEqual(await resent(subscription, known), once('before'));
  assert.equal((await get(owner, redelivery)).done, 1);
});

test('1,200 deliveries are redelivered in batches of 500, across a restart', async () => {
  const { owner, subscription } = await createOwner();
  const known: string[] = [];
  for (const days of [6, 3, 0])
    known.push(
      ...(await insertDeliveries(
        app,
        owner,
        subscription,
        Array.from({ length: 400 }, (): Options => ({ ended: 'failed', created_at: ago(days * DAY_MS + 1) })),
      )),
    );
  const redelivery = await recover(owner, subscription, { since: ago(7 * DAY_MS).toISOString() });
  assert.equal(redelivery.total, 1_200);
  assert.equal(await app.redeliveries.step(), true);
  assert.equal((await get(owner, redelivery)).done, 500);
  const restarted = await createTestApp({ testDatabase, clock });
  await run(restarted);
  const { state, done } = await get(owner, redelivery);
  assert.deepEqual([state, done], ['completed', 1_200]);
  const counts = Object.values(await resent(subscription, known));
  assert.deepEqual([counts.length, Math.max(...counts)], [1_200, 1]);
});

test('two nodes at once: each failed delivery gets exactly one new delivery', async () => {
  const { owner, subscription } = await createOwner();
  const deliveries = Array.from(
    { length: 3_000 },
    (): Options => ({ ended: 'failed', created_at: ago(HOUR_MS) }),
  );
  const known = await insertDeliveries(app, owner, subscription, deliveries);
  const redelivery = await recover(owner, subscription);
  const twin = await createTestApp({ testDatabase, clock });
  for (let round = 0; round < 20; round++)
    await Promise.all([app, twin, app, twin].map((node) => node.redeliveries.step()));
  const { state, total, done } = await get(owner, redelivery);
  assert.deepEqual([state, total, done], ['completed', 3_000, 3_000]);
  const counts = Object.values(await resent(subscription, known));
  assert.deepEqual([counts.length, Math.max(...counts)], [3_000, 1]);
});

test('a redelivery locked by another node is skipped and continued later', async () => {
  const { owner, subscription } = await createOwner();
  const known = await insertDeliveries(app, owner, subscription, [
    { ended: 'failed', event_guid: event('x') },
  ]);
  clock.advance(1);
  const redelivery = await recover(owner, subscription);
  await app.database.transaction(async (transaction) => {
    // Another transaction holds the lock.
    const held = transaction.selectFrom('subscription_recoveries').selectAll();
    await held.where('guid', '=', String(redelivery.guid)).forUpdate().execute();
    assert.equal(await app.redeliveries.step(), false);
  });
  assert.equal((await get(owner, redelivery)).state, 'running');
  assert.deepEqual(await resent(subscription, known), {});
  await run();
  assert.deepEqual(await resent(subscription, known), once('x'));
});

test('a redelivery pauses while more than 5,000 deliveries wait; others continue', async () => {
  const { owner, subscription } = await createOwner();
  const [known] = await insertDeliveries(app, owner, subscription, [
    { ended: 'failed', event_guid: event('x'), created_at: ago(1) },
  ]);
  const queue = Array.from({ length: 5_001 }, () => ({
    ...{ subscription_guid: subscription.guid, delivery_guid: guidOf(clock.now()) },
    ...{ due_at: clock.now(), scheduled_at: clock.now(), leased_by: null },
  }));
  await app.database.queries.insertInto('delivery_queue').values(queue).execute();
  const redelivery = await recover(owner, subscription);
  assert.equal(await app.redeliveries.step(), false);
  assert.equal((await get(owner, redelivery)).state, 'running');

  const next = await createOwner();
  const others = await recover(next.owner, next.subscription);
  await run();
  assert.equal((await get(next.owner, others)).state, 'completed');
  assert.equal((await get(owner, redelivery)).state, 'running');

  const one = app.database.queries.deleteFrom('delivery_queue');
  await one.where('delivery_guid', '=', String(queue[0]?.delivery_guid)).execute();
  await run();
  assert.equal((await get(owner, redelivery)).state, 'completed');
  assert.deepEqual(await resent(subscription, [String(known)]), once('x'));
});

test('a redelivery fails when its subscription stops delivering', async () => {
  const { owner, subscription } = await createOwner();
  const deliveries = Array.from(
    { length: 600 },
    (): Options => ({ ended: 'failed', created_at: ago(HOUR_MS) }),
  );
  await insertDeliveries(app, owner, subscription, deliveries);
  const redelivery = await recover(owner, subscription);
  assert.equal(await app.redeliveries.step(), true);
  await app.operate('PATCH', `/subscriptions/${subscription.guid}`, { disabled: true });
  app.clock.advance(1_000);
  await run();
  const { state, total, done, failed_at } = await get(owner, redelivery);
  assert.deepEqual([state, total, done], ['failed', 600, 500]);
  assert.equal(failed_at, clock.now().toISOString());
});

test('a redelivery to a subscription that no longer delivers: 409', async () => {
  const { owner, subscription } = await createOwner();
  await app.operate('PATCH', `/subscriptions/${subscription.guid}`, { disabled: true });
  const answer = await post(owner, { subscription_guid: subscription.guid, since: since() });
  assertError(answer, 409, 'delivery_not_retryable', /^subscription_guid /);
});

test('without a running redelivery the database is queried once per second', async () => {
  const { owner, subscription } = await createOwner();
  await run();
  clock.advance(1_000);
  const idle = await createTestApp({ testDatabase, clock });
  assert.equal(await idle.redeliveries.step(), false);
  const elsewhere = await recover(owner, subscription);
  assert.equal(await idle.redeliveries.step(), false, 'it was made by another node');
  clock.advance(999);
  assert.equal(await idle.redeliveries.step(), false);
  clock.advance(1);
  assert.equal(await idle.redeliveries.step(), true);
  assert.equal((await get(owner, elsewhere)).state, 'completed');

  assert.equal(await app.redeliveries.step(), false);
  await recover(owner, subscription);
  assert.equal(await app.redeliveries.step(), true, 'it was made here');
});

test('since must be before until, and until is at most now', async () => {
  const { owner, subscription } = await createOwner();
  const subscription_guid = subscription.guid;
  const now = clock.now().toISOString();
  const later = new Date(clock.now().getTime() + HOUR_MS).toISOString();
  for (const [window, field] of [
    [{ since: now }, 'since'],
    [{ since: later }, 'since'],
    [{ since: later, until: later }, 'since'],
    [{ since: since(), until: since() }, 'since'],
    [{ since: '2026-12-31T23:59:60Z' }, 'since'],
    [{ since: 'yesterday' }, 'since'],
    [{ since: since(), until: '2026-06-30T23:59:60Z' }, 'until'],
    [{ since: since(), until: 7 }, 'until'],
  ] as const)
    assertError(
      await post(owner, { subscription_guid, ...window }),
      400,
      'invalid_parameter',
      new RegExp(`^${field}\\b`),
    );
  assertError(await post(owner, { subscription_guid }), 400, 'missing_parameter', /since/);
  assert.equal((await recover(owner, subscription)).until, now);
  assert.equal((await recover(owner, subscription, { until: later })).until, now);
  const old = await recover(owner, subscription, { since: '0000-01-01T00:00:00Z' });
  assert.deepEqual([old.since, old.total], ['0000-01-01T00:00:00.000Z', 0]);
  await run();
});

test('a redelivery has an audit record', async () => {
  const { owner, subscription } = await createOwner();
  const redelivery = await recover(owner, subscription);
  const record = soleRecord(await auditRecordsOf(app, String(redelivery.guid)));
  assert.equal(record.action, 'subscription_recovery.create');
  assert.equal(record.organization_guid, owner.organizationGuid);
  const window = { since: redelivery.since, until: redelivery.until };
  assert.deepEqual(record.changes, { subscription_guid: subscription.guid, kind: 'failed', ...window });
});

test('the subscription must belong to the caller and the environment of the token', async () => {
  const { owner, subscription } = await createOwner();
  const live = await createSubscription(app, owner, { environment: 'production' });
  const stranger = await createTenant(app);
  const scope = 'subscription_events:execute';
  const sandbox = await tokenOf(app, owner.organizationKey, scope);
  const production = await tokenOf(app, owner.organizationKey, scope, { host: PRODUCTION_HOST });
  for (const [token, subscription_guid, status] of [
    [sandbox, subscription.guid, 201],
    [sandbox, live.guid, 404],
    [production, live.guid, 201],
    [production, subscription.guid, 404],
    [await userToken(app, owner.organizationGuid), live.guid, 201],
    [await userToken(app, stranger.organizationGuid), subscription.guid, 404],
    [sandbox, '0'.repeat(32), 404],
  ] as const) {
    const answer = await post(owner, { subscription_guid, since: since() }, token);
    if (status === 404) assertError(answer, 404, 'not_found', /^subscription_guid does not/);
    else assert.equal(answer.status, status);
  }
  const reading = await tokenOf(app, owner.organizationKey, 'subscription_events:read');
  const payload = { subscription_guid: subscription.guid, since: since() };
  assertError(await post(owner, payload, reading), 403, 'invalid_scopes');
  const callers = { ...owner, customerGuid: await createCustomer(app, owner.bankGuid) };
  for (const type of ['bank', 'customer'] as const)
    assertError(await post(owner, payload, await issueToken(app, callers, type)), 403, 'invalid_scopes');
  await run();
});

test('the list has filters and pages and excludes other tenants', async () => {
  const { owner, subscription } = await createOwner();
  const live = await createSubscription(app, owner, { environment: 'production' });
  const stopped = await createSubscription(app, owner);
  const labels: Record<string, string> = {};
  const start = clock.now().getTime();
  for (const [label, target] of [
    ['A', subscription],
    ['B', live],
    ['C', stopped],
    ['D', subscription],
  ] as const) {
    labels[String((await recover(owner, target)).guid)] = label;
    if (label === 'A') await run();
    clock.advance(60_000);
    if (label === 'C') {
      await app.operate('PATCH', `/subscriptions/${stopped.guid}`, { disabled: true });
      await run();
    }
  }
  const at = (minute: number) => new Date(start + minute * 60_000).toISOString();
  const list = async (query: string, token?: string) =>
    app.call({
      url: `/api/subscription_recoveries?${query}`,
      token: token ?? (await userToken(app, owner.organizationGuid)),
    });
  const found = async (query: string, token?: string) =>
    objectsOf(await list(query, token))
      .map(({ guid }) => labels[String(guid)])
      .join('');
  assert.equal(await found(''), 'DCBA');
  assert.equal(await found('state=running'), 'D');
  assert.equal(await found('state=failed'), 'C');
  assert.equal(await found('state=completed,failed'), 'CBA');
  assertError(await list('state=done'), 400, 'invalid_parameter', /^state must be one of .* done$/);
  assert.equal(await found(`subscription_guid=${subscription.guid}`), 'DA');
  assert.equal(await found(`subscription_guid=${subscription.guid}&state=completed`), 'A');
  assert.equal(await found('environment=production'), 'B');
  assert.equal(await found(`created_at_gte=${at(1)}&created_at_lt=${at(3)}`), 'CB');
  const { body } = await list('per_page=3');
  assert.deepEqual([body.total, labels[String(body.next)]], [4, 'B']);
  assert.equal(await found(`per_page=3&after=${body.next}`), 'A');
  assert.equal(await found(`guid=${body.next}`), 'B');
  assert.equal(await found('', await tokenOf(app, owner.organizationKey, 'subscription_events:read')), 'DCA');
  const stranger = await createTenant(app);
  assert.equal(await found('', await userToken(app, stranger.organizationGuid)), '');
  await run();
});

test('redeliveries that ended before the retention are deleted, and no others', async () => {
  const { owner, subscription } = await createOwner();
  const ended = await recover(owner, subscription);
  await run();
  const running = await recover(owner, subscription);
  clock.advance(30 * DAY_MS);
  await app.redeliveries.sweep();
  assert.equal((await get(owner, ended)).state, 'completed', 'to the last moment');
  clock.advance(1);
  assert.ok((await app.redeliveries.sweep()) >= 1);
  const token = await userToken(app, owner.organizationGuid);
  assertError(await app.call({ url: `/api/subscription_recoveries/${ended.guid}`, token }), 404, 'not_found');
  assert.equal((await get(owner, running)).state, 'running');
});
