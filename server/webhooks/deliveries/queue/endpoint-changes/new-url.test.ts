import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { auditRecordsOf } from '../../../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../../../testing/app/app.ts';
import { createTenant } from '../../../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../../../testing/database/database.ts';
import { createSilentProxy } from '../../../../../testing/database/silent-proxy.ts';
import { publishEvents } from '../../../../../testing/webhooks/events.ts';
import {
  createSubscription,
  eventTypesOf,
  founderOf,
  setMoments,
} from '../../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, hold } from '../../../../../testing/webhooks/test-endpoint.ts';
import {
  createDispatchingApp,
  createNodes,
  guidsAt,
  pass,
  queueOf,
  subscriptionRow,
  typesAt,
  until,
} from '../../../../../testing/webhooks/webhooks.ts';

/** A change of the URL (contract, section 7). */
const app = await createDispatchingApp();
const { clock, dispatcher } = app;
const DAY_MS = 24 * 3_600_000;
const FAILS = { kind: 'answer', status: 500 } as const;

async function createActive() {
  const tenant = await createTenant(app);
  const [old, fresh] = [await createTestEndpoint(), await createTestEndpoint()];
  const subscription = await createSubscription(app, tenant, { url: old.url });
  await dispatcher.drain();
  const founder = founderOf(app, tenant);
  const change = (changes: object) => founder('PATCH', `/${subscription.guid}`, changes);
  return { tenant, old, fresh, subscription, founder, change };
}

test('a new URL receives its own subscription.storing first, and the backlog after its 2xx', async () => {
  const { tenant, old, fresh, subscription, change } = await createActive();
  old.behave(FAILS);
  const events = await publishEvents(app, tenant, 20);
  await dispatcher.drain();
  fresh.behave(FAILS);
  const { status, body } = await change({ url: fresh.url });
  assert.deepEqual([status, body.state, body.deliveries_failing_since], [200, 'storing', undefined]);
  const sentBefore = old.received.length;
  for (let seconds = 0; seconds < 4; seconds += 1) await pass(1_000, [app]);
  assert.deepEqual(new Set(typesAt(fresh)), new Set(['subscription.storing']));
  assert.equal(new Set(guidsAt(fresh)).size, 1, 'one event and its retries');
  fresh.behave({ kind: 'answer' });
  await pass(20_000, [app]);
  assert.deepEqual(
    guidsAt(fresh)
      .filter((guid) => events.includes(guid))
      .toSorted(),
    events.toSorted(),
  );
  assert.equal(old.received.length, sentBefore, 'the old URL receives nothing more');
  assert.deepEqual(await queueOf(app, subscription), []);
});

test('the backlog follows a first 2xx at the first attempt, before its retries are due', async () => {
  const { tenant, old, fresh, subscription, change } = await createActive();
  old.behave(FAILS);
  const events = await publishEvents(app, tenant, 3);
  await pass(40_000, [app]);
  assert.ok((await queueOf(app, subscription)).every(({ due_at }) => +due_at > +clock.now() + 500_000));
  const first = hold();
  fresh.behave(first);
  await change({ url: fresh.url });
  void dispatcher.poll();
  await fresh.waitForCount(1);
  await dispatcher.poll();
  const draining = dispatcher.drain();
  first.release({ status: 200 });
  fresh.behave({ kind: 'answer' });
  await draining;
  await pass(2_000, [app]);
  assert.deepEqual(guidsAt(fresh).slice(1).toSorted(), events.toSorted());
});

test('only this subscription receives the first event; it is audited with both URLs', async () => {
  const { tenant, fresh, subscription, old, change } = await createActive();
  const other = await createTestEndpoint();
  await createSubscription(app, tenant, { url: other.url });
  await dispatcher.drain();
  const before = other.received.length;
  await change({ url: fresh.url, name: 'Moved' });
  await dispatcher.drain();
  assert.equal(other.received.length, before);
  assert.deepEqual(await eventTypesOf(app, subscription.guid), Array(2).fill('subscription.storing'));
  const [record] = await auditRecordsOf(app, subscription.guid, 'subscription.update');
  assert.deepEqual(record?.changes, { name: 'Moved', url: fresh.url });
  assert.deepEqual(record?.before, { name: 'Hook', url: old.url });
  assert.equal((await change({ url: fresh.url })).status, 200);
  assert.equal((await eventTypesOf(app, subscription.guid)).length, 2, 'the same URL changes nothing');
});

test('a Retry-After of the old URL does not hold deliveries back from the new one', async () => {
  const { tenant, old, fresh, change } = await createActive();
  old.behave({ kind: 'answer', status: 503, headers: { 'retry-after': '600' } });
  const events = await publishEvents(app, tenant, 3);
  await dispatcher.drain();
  const stuck = hold();
  old.behave(stuck);
  const [late = ''] = await publishEvents(app, tenant);
  await dispatcher.poll();
  await old.waitForCount(5);
  await change({ url: fresh.url });
  stuck.release({ status: 503, headers: { 'retry-after': '600' } });
  await pass(3_000, [app]);
  assert.deepEqual(guidsAt(fresh).slice(1).toSorted(), [...events, late].toSorted());
});

test('requests in flight to the old URL neither hold back nor fail nor activate the new one', async () => {
  const { tenant, old, fresh, subscription, change } = await createActive();
  const stuck = hold();
  old.behave(stuck);
  await publishEvents(app, tenant, 30);
  await old.waitForCount(4);
  const slow = hold();
  fresh.behave(slow);
  await change({ url: fresh.url });
  void dispatcher.poll();
  await fresh.waitForCount(1);
  const settling = dispatcher.drain();
  stuck.release({ status: 500 });
  slow.release({ status: 200 });
  fresh.behave({ kind: 'answer' });
  await settling;
  await pass(3_000, [app]);
  const row = await subscriptionRow(app, subscription);
  assert.deepEqual([row.deliveries_failing_since, row.activated_at !== null], [null, true]);
  assert.deepEqual(await queueOf(app, subscription), []);
});

test('no node sends to the old URL once the change is answered', async () => {
  const { a, b, tenant, endpoint: old, subscription } = await createNodes();
  const fresh = await createTestEndpoint();
  const stuck = hold();
  old.behave(stuck);
  await publishEvents(a, tenant, 30);
  await publishEvents(b, tenant, 30);
  await old.waitForCount(1 + 3 + 2);
  const { status } = await founderOf(a, tenant)('PATCH', `/${subscription.guid}`, { url: fresh.url });
  assert.equal(status, 200);
  const before = old.received.length;
  stuck.release();
  await pass(5_000, [a, b]);
  assert.equal(old.received.length, before, 'requests in flight only');
  assert.deepEqual(await queueOf(a, subscription), []);
  assert.equal(new Set([...guidsAt(old), ...guidsAt(fresh)]).size, 62);
});

test('a transaction that read the old URL delivers to the new one', async () => {
  const { tenant, old, fresh, subscription, change } = await createActive();
  const before = old.received.length;
  const { promise: changed, resolve } = Promise.withResolvers<void>();
  const publishing = app.database.transaction(async (transaction) => {
    const [endpoint] = await app.subscriptions.endpointsOf(transaction, [tenant.organizationGuid]);
    assert.equal(endpoint?.url, old.url);
    assert.ok(endpoint && app.dispatcher.reserve(endpoint, 1) === 1);
    await changed;
    app.dispatcher.accept(endpoint, [], String(app.dispatcher.holder()));
    app.dispatcher.unreserve(endpoint, 1);
  });
  await change({ url: fresh.url });
  resolve();
  await publishing;
  await publishEvents(app, tenant, 5);
  await dispatcher.drain();
  await pass(2_000, [app]);
  assert.equal(old.received.length, before);
  assert.equal(fresh.received.length, 6);
  assert.deepEqual(await queueOf(app, subscription), []);
});

test('the change survives a dispatcher that dies with deliveries of the old URL', async () => {
  const { a, b, tenant, endpoint: old, subscription } = await createNodes({ apart: true });
  const fresh = await createTestEndpoint();
  const stuck = hold();
  old.behave(stuck);
  const events = await publishEvents(a, tenant, 20);
  await old.waitForCount(4);
  old.behave(FAILS);
  // The clock of A stands still, as if its process were gone.
  await pass(15_000, [b]);
  const { status } = await founderOf(b, tenant)('PATCH', `/${subscription.guid}`, { url: fresh.url });
  assert.equal(status, 200);
  await pass(15_000, [b]);
  assert.deepEqual(
    guidsAt(fresh)
      .filter((guid) => events.includes(guid))
      .toSorted(),
    events.toSorted(),
  );
  stuck.release({ status: 500 });
});

test('a dispatcher without the database during the change sends nothing to the old URL later', async () => {
  const testDatabase = await createTestDatabase();
  const proxy = await createSilentProxy(testDatabase.url);
  const cut = await createDispatchingApp({ testDatabase: { ...testDatabase, url: proxy.url } });
  const other = await createTestApp({ testDatabase, clock: cut.clock });
  after(async () => {
    await proxy.close();
    await testDatabase.drop();
  });
  const tenant = await createTenant(other);
  const [old, fresh] = [await createTestEndpoint(), await createTestEndpoint()];
  const subscription = await createSubscription(other, tenant, { url: old.url });
  await cut.dispatcher.drain();
  const stuck = hold();
  old.behave(stuck);
  await publishEvents(cut, tenant, 30);
  await old.waitForCount(4);
  proxy.refuseAll();
  cut.clock.advance(8_500);
  const before = old.received.length;
  stuck.release();
  old.behave({ kind: 'answer' });
  await until(() => cut.dispatcher.figures().inFlight === 0, 'the answers to the requests in flight');
  assert.ok(cut.dispatcher.figures().held > 3, 'deliveries wait for the lease');
  cut.clock.advance(2_500);
  const changed = await founderOf(other, tenant)('PATCH', `/${subscription.guid}`, { url: fresh.url });
  assert.equal(changed.status, 200);
  proxy.restore();
  await until(async () => {
    cut.clock.advance(1_000);
    await cut.dispatcher.poll();
    return old.received.length > before || fresh.received.length > 1;
  }, 'further deliveries');
  assert.equal(old.received.length, before);
});

test('the URL of a paused subscription can be changed, of a failed or deleting one not', async () => {
  const { fresh, subscription, founder, change } = await createActive();
  await change({ paused: true });
  assert.equal((await change({ url: fresh.url })).body.state, 'storing');
  await pass(2_000, [app]);
  assert.equal(fresh.received.length, 0, 'the first event waits for the end of the pause');
  await change({ paused: false });
  await pass(2_000, [app]);
  assert.equal((await founder('GET', `/${subscription.guid}`)).body.state, 'active');
  await setMoments(app, subscription.guid, { failed_at: clock.now() });
  const url = 'https://partner.example/other';
  assertError(await change({ url }), 409, 'state_conflict', /^url of a failed subscription/);
  await setMoments(app, subscription.guid, {
    ...{ failed_at: null, scheduled_deletion_at: new Date(clock.now().getTime() + DAY_MS) },
  });
  assertError(await change({ url }), 409, 'state_conflict', /^url of a deleting subscription/);
});

test('calls of another Organization use up no change of the URL', async () => {
  const { fresh, subscription, change } = await createActive();
  const foreign = founderOf(app, await createTenant(app));
  for (let n = 0; n < 31; n += 1)
    assertError(await foreign('PATCH', `/${subscription.guid}`, { url: fresh.url }), 404, 'not_found');
  assert.equal((await change({ url: fresh.url })).status, 200);
});

test('a PATCH that is refused or does not change the URL uses up no change of it', async () => {
  const { old, change } = await createActive();
  for (let n = 0; n < 11; n += 1) {
    assert.equal((await change({ url: old.url, name: `Hook ${n}` })).status, 200);
    assert.equal((await change({ url: `${old.url}/a/..` })).status, 200, 'another spelling');
    assertError(await change({ url: `${old.url}#a` }), 400, 'invalid_parameter', /fragment/);
  }
  assert.equal((await change({ url: 'https://partner.example/other' })).status, 200);
});

test('another spelling of the URL changes nothing, and the outcomes of requests in flight count', async () => {
  const { tenant, old, subscription, founder, change } = await createActive();
  old.behave(FAILS);
  await publishEvents(app, tenant);
  await dispatcher.drain();
  assert.ok((await subscriptionRow(app, subscription)).deliveries_failing_since);
  const retry = hold();
  old.behave(retry);
  clock.advance(3_000);
  void dispatcher.poll();
  await old.waitForCount(3);
  const { body: before } = await founder('GET', `/${subscription.guid}`);
  assert.deepEqual((await change({ url: `${old.url}/a/..?` })).body, before);
  assert.deepEqual(await auditRecordsOf(app, subscription.guid, 'subscription.update'), []);
  retry.release({ status: 200 });
  await dispatcher.drain();
  assert.equal((await subscriptionRow(app, subscription)).deliveries_failing_since, null);
});

test('a subscription takes 30 changes of its URL in an hour', async () => {
  const { change } = await createActive();
  for (let n = 0; n < 30; n += 1)
    assert.equal((await change({ url: `https://partner.example/${n}` })).status, 200);
  assertError(await change({ url: 'https://partner.example/x' }), 429, 'rate_limit_exceeded');
  assert.equal((await change({ name: 'Still' })).status, 200);
});
