import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import { createTenant, type Tenant } from '../../../testing/app/tenant.ts';
import { createSubscription, founderOf, setMoments } from '../../../testing/webhooks/subscriptions.ts';
import { queueOf } from '../../../testing/webhooks/webhooks.ts';

/** Endpoints as the dispatcher sees them. */
const app = await createTestApp();
const { subscriptions, database } = app;
const HOUR = 3_600_000;
const ago = (ms: number) => new Date(app.clock.now().getTime() - ms);

const endpointsOf = (...tenants: readonly Tenant[]) =>
  database.transaction((transaction) =>
    subscriptions.endpointsOf(
      transaction,
      tenants.map(({ organizationGuid }) => organizationGuid),
    ),
  );
async function endpoint(guid: string) {
  const [found, ...more] = await subscriptions.endpoints([guid]);
  assert.ok(found && more.length === 0);
  const { signingKey: _, ...rest } = found;
  return rest;
}

test('endpointsOf returns the subscriptions of the Organizations with their keys', async () => {
  const [first, second, third] = [await createTenant(app), await createTenant(app), await createTenant(app)];
  const created = [
    await createSubscription(app, first, { environment: 'production' }),
    await createSubscription(app, first, { url: 'http://partner.example/x' }),
    await createSubscription(app, second),
  ];
  await createSubscription(app, third);
  const queued = await Promise.all(created.map((each) => queueOf(app, each)));
  const firsts = new Map(
    queued.flat().map(({ subscription_guid, delivery_guid }) => [subscription_guid, delivery_guid]),
  );
  assert.equal(firsts.size, created.length, 'the event of each creation');
  const found = await endpointsOf(first, second, first);
  assert.deepEqual(
    found.map(({ signingKey, ...rest }) => ({ ...rest, key: signingKey().reveal() })),
    created.map(({ guid, organization_guid, environment, url, signing_key: key }) => ({
      ...{ guid, organizationGuid: organization_guid, environment, url, key },
      ...{
        version: 0,
        disabled: false,
        paused: false,
        delivers: true,
        endsAt: undefined,
        recoveredAt: undefined,
        hasAnswered: false,
        leaseTerm: 0,
      },
      ...{ firstOnly: { deliveryGuid: firsts.get(guid) }, urlChangedAt: undefined },
    })),
  );
  assert.ok(
    !JSON.stringify(found.map(({ signingKey }) => signingKey())).includes(created[0]?.signing_key ?? ''),
  );
  assert.deepEqual(await endpointsOf(), []);
  assert.deepEqual(await subscriptions.endpoints([]), []);
  assert.deepEqual(await subscriptions.endpoints(['0'.repeat(32)]), []);
});

test('events go to subscriptions that are neither failed nor deleted, including disabled ones', async () => {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant);
  const now = app.clock.now();
  const NONE = { failed_at: null, disabled_at: null, scheduled_deletion_at: null, deleted_at: null };
  for (const [moments, gets, delivers] of [
    [{}, true, true],
    [{ activated_at: now }, true, true],
    [{ deliveries_failing_since: ago(HOUR) }, true, true],
    [{ disabled_at: now }, true, false],
    [{ scheduled_deletion_at: new Date(now.getTime() + 1) }, true, true],
    [{ scheduled_deletion_at: now }, false, false],
    [{ deleted_at: now }, false, false],
    [{ failed_at: now }, false, false],
    [{ failed_at: now, scheduled_deletion_at: new Date(now.getTime() + 1) }, false, false],
  ] as const) {
    await setMoments(app, guid, { ...NONE, ...moments });
    assert.equal((await endpointsOf(tenant)).length, gets ? 1 : 0, JSON.stringify(moments));
    const seen = await endpoint(guid);
    assert.deepEqual(
      [seen.delivers, seen.disabled],
      [delivers, 'disabled_at' in moments],
      JSON.stringify(moments),
    );
    if (gets) assert.equal((await endpointsOf(tenant))[0]?.delivers, delivers);
  }
});

test('endsAt is the scheduled deletion; recoveredAt is a recovery or the end of a pause, until the next failure', async () => {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant);
  for (const paused of [true, false]) await founderOf(app, tenant)('PATCH', `/${guid}`, { paused });
  const resumedAt = app.clock.now();
  assert.deepEqual((await endpoint(guid)).recoveredAt, resumedAt);
  await setMoments(app, guid, { recovered_at: ago(HOUR) });
  assert.deepEqual((await endpoint(guid)).recoveredAt, resumedAt);
  app.clock.advance(2 * HOUR);
  await founderOf(app, tenant)('DELETE', `/${guid}`);
  assert.deepEqual((await endpoint(guid)).endsAt, new Date(app.clock.now().getTime() + 24 * HOUR));
  await setMoments(app, guid, { recovered_at: ago(HOUR) });
  assert.deepEqual((await endpoint(guid)).recoveredAt, ago(HOUR));
  await setMoments(app, guid, { deliveries_failing_since: ago(1) });
  assert.equal((await endpoint(guid)).recoveredAt, undefined);
});

test('an undecryptable key affects only its own subscription, and only when signing', async () => {
  const tenant = await createTenant(app);
  const broken = await createSubscription(app, tenant);
  const whole = await createSubscription(app, tenant);
  const signing_key_encrypted = Buffer.from('damaged'.repeat(20));
  await database.queries
    .updateTable('subscriptions')
    .set({ signing_key_encrypted })
    .where('guid', '=', broken.guid)
    .execute();
  for (const found of [await endpointsOf(tenant), await subscriptions.endpoints([broken.guid, whole.guid])]) {
    assert.deepEqual(
      found.map(({ guid }) => guid),
      [broken.guid, whole.guid],
    );
    assert.throws(() => found[0]?.signingKey(), /master key|decrypt/);
    assert.equal(found[1]?.signingKey().reveal(), whole.signing_key);
  }
});

test('a key is decrypted once', async () => {
  const { guid, signing_key: key } = await createSubscription(app, await createTenant(app));
  const [before] = await subscriptions.endpoints([guid]);
  const [after] = await subscriptions.endpoints([guid]);
  assert.equal(before?.signingKey().reveal(), key);
  assert.equal(before?.signingKey(), after?.signingKey());
});

test('hasAnswered is set after a success without a later failure', async () => {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant);
  const now = app.clock.now();
  for (const [moments, hasAnswered] of [
    [{ activated_at: null, deliveries_failing_since: null }, false],
    [{ activated_at: null, deliveries_failing_since: now }, false],
    [{ activated_at: now, deliveries_failing_since: null }, true],
    [{ activated_at: now, deliveries_failing_since: now }, false],
  ] as const) {
    await setMoments(app, guid, moments);
    assert.equal((await endpoint(guid)).hasAnswered, hasAnswered, JSON.stringify(moments));
  }
});
