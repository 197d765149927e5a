import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant, type Tenant } from '../../../../testing/app/tenant.ts';
import { deliveriesOf } from '../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import {
  createSubscription,
  founderOf,
  type SubscriptionBody,
} from '../../../../testing/webhooks/subscriptions.ts';
import {
  createTestEndpoint,
  refusing,
  type TestEndpoint,
} from '../../../../testing/webhooks/test-endpoint.ts';
import {
  createDispatchingApp,
  eventIn,
  guidsAt,
  isSignedWith,
  queueOf,
  showDelivery,
} from '../../../../testing/webhooks/webhooks.ts';

/** Events rule 9: delete the old subscription and create a new one; for 24 hours both receive everything. */
const app = await createDispatchingApp();
const { clock, dispatcher } = app;
const HOUR_MS = 3_600_000;

async function remove(tenant: Tenant, { guid }: SubscriptionBody): Promise<Date> {
  const { status, body } = await founderOf(app, tenant)('DELETE', `/${guid}`);
  assert.equal(status, 200, JSON.stringify(body));
  return new Date(String(body.scheduled_deletion_at));
}

/** Drains before time moves on, because requests in flight would time out. */
async function publishAt(tenant: Tenant, moment: Date): Promise<string> {
  clock.set(moment);
  const [guid = ''] = await publishEvents(app, tenant);
  await dispatcher.drain();
  await dispatcher.drain();
  return guid;
}

async function publishHourly(tenant: Tenant, hours: number): Promise<string[]> {
  const guids: string[] = [];
  for (let hour = 0; hour < hours; hour += 1)
    guids.push(await publishAt(tenant, new Date(clock.now().getTime() + HOUR_MS)));
  return guids;
}

/** Events that arrived with a signature of this key. */
function signedWith(key: string, { received }: TestEndpoint): string[] {
  return received.filter((request) => isSignedWith(key, request)).map((request) => eventIn(request).guid);
}

for (const place of ['the same endpoint', 'another endpoint']) {
  test(`for 24 hours every event arrives at both subscriptions with their own signatures, at ${place}`, async () => {
    const tenant = await createTenant(app);
    const atOld = await createTestEndpoint();
    const atNew = place === 'the same endpoint' ? atOld : await createTestEndpoint();
    const old = await createSubscription(app, tenant, { url: `${atOld.url}/old` });
    await dispatcher.drain();
    const endsAt = await remove(tenant, old);
    assert.equal(endsAt.getTime(), clock.now().getTime() + 24 * HOUR_MS);
    await dispatcher.drain();
    const fresh = await createSubscription(app, tenant, { url: `${atNew.url}/new` });
    await dispatcher.drain();
    assert.notEqual(old.signing_key, fresh.signing_key);

    const events = await publishHourly(tenant, 23);
    events.push(await publishAt(tenant, new Date(endsAt.getTime() - 1)));
    const oldOnes = signedWith(old.signing_key, atOld);
    const newOnes = signedWith(fresh.signing_key, atNew);
    assert.deepEqual(
      oldOnes.filter((guid) => events.includes(guid)),
      events,
    );
    assert.deepEqual(
      newOnes.filter((guid) => events.includes(guid)),
      events,
    );
    const typesOf = (path: string) =>
      [...new Set([...atOld.received, ...atNew.received])]
        .filter((request) => request.path === path)
        .map((request) => eventIn(request))
        .filter(({ object_guid }) => object_guid === old.guid)
        .map(({ event_type }) => event_type);
    assert.deepEqual(typesOf('/old'), ['subscription.storing', 'subscription.deleting']);

    clock.set(endsAt);
    await app.clusterTasks.runOnce();
    const later = [await publishAt(tenant, endsAt), ...(await publishHourly(tenant, 3))];
    assert.deepEqual(
      signedWith(fresh.signing_key, atNew).filter((guid) => later.includes(guid)),
      later,
    );
    assert.equal(signedWith(old.signing_key, atOld).length, oldOnes.length, 'nothing more at the old one');
    assert.deepEqual(typesOf('/old'), ['subscription.storing', 'subscription.deleting']);
    assert.deepEqual(typesOf('/new'), ['subscription.deleted']);
    const requests = new Set([...atOld.received, ...atNew.received]);
    for (const request of requests) {
      const [own, foreign] = request.path === '/old' ? [old, fresh] : [fresh, old];
      assert.ok(isSignedWith(own.signing_key, request) && !isSignedWith(foreign.signing_key, request));
    }
    const founder = founderOf(app, tenant);
    assert.equal((await founder('GET', `/${old.guid}`)).status, 404);
    assert.equal((await founder('GET', `/${fresh.guid}`)).body.state, 'active');
  });
}

test('after its scheduled deletion the old subscription receives nothing, even before the cluster task ran', async () => {
  const tenant = await createTenant(app);
  const atOld = await createTestEndpoint();
  const atNew = await createTestEndpoint();
  const old = await createSubscription(app, tenant, { url: atOld.url });
  await dispatcher.drain();
  const endsAt = await remove(tenant, old);
  await createSubscription(app, tenant, { url: atNew.url });
  await dispatcher.drain();
  const before = atOld.received.length;

  const later: string[] = [];
  for (const minutes of [0, 30, 60])
    later.push(await publishAt(tenant, new Date(endsAt.getTime() + minutes * 60_000)));
  assert.equal(atOld.received.length, before);
  assert.ok(later.every((guid) => guidsAt(atNew).includes(guid)));
  assert.equal((await founderOf(app, tenant)('GET', `/${old.guid}`)).status, 404);

  await app.clusterTasks.runOnce();
  await dispatcher.drain();
  assert.equal(eventIn(atNew.received.at(-1) ?? assert.fail()).event_type, 'subscription.deleted');
  assert.equal(atOld.received.length, before);
});

test('waiting deliveries fail at the scheduled deletion, even before the cluster task ran', async () => {
  const tenant = await createTenant(app);
  const old = await createSubscription(app, tenant, { url: await refusing() });
  await dispatcher.drain();
  const endsAt = await remove(tenant, old);
  const lastMinute = await publishAt(tenant, new Date(endsAt.getTime() - 60_000));
  const waiting = await queueOf(app, old);
  assert.equal(waiting.length, 3, 'storing, deleting and the event are tried again and again');

  clock.set(endsAt);
  await dispatcher.drain();
  await dispatcher.drain();
  assert.deepEqual(await queueOf(app, old), []);
  const deliveries = await deliveriesOf(app, old);
  const last = deliveries.find(({ event_guid }) => event_guid === lastMinute);
  assert.ok(last);
  for (const { guid } of deliveries) {
    const view = await showDelivery(app, tenant, guid);
    assert.equal(view.state, 'failed');
    assert.equal(view.failed_at, endsAt.toISOString());
    assert.equal(view.next_attempt_at, undefined);
    assert.ok(view.attempts.every(({ attempted_at }) => new Date(String(attempted_at)) < endsAt));
  }
});

test('a protected subscription cannot be deleted and keeps receiving events', async () => {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const kept = await createSubscription(app, tenant, { url: endpoint.url });
  await dispatcher.drain();
  await app.operate('PATCH', `/subscriptions/${kept.guid}`, { protection_enabled: true });
  assert.equal((await founderOf(app, tenant)('DELETE', `/${kept.guid}`)).status, 409);
  const events = await publishHourly(tenant, 25);
  await app.clusterTasks.runOnce();
  assert.ok(events.every((guid) => guidsAt(endpoint).includes(guid)));
});
