import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Answer, assertError, createTestApp, type TestApp } from '../../../testing/app/app.ts';
import { createTenant, type Tenant, userToken } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { createSubscription, founderOf, setMoments } from '../../../testing/webhooks/subscriptions.ts';

/** Subscription limits (specification, Limits; contract, section 7). */
const testDatabase = await createTestDatabase();
const app = await createTestApp({ testDatabase });
const other = await createTestApp({ testDatabase, clock: app.clock });
after(() => testDatabase.drop());

const bodyFor = (environment: string) => ({
  ...{ type: 'webhook', name: 'Hook', url: 'https://partner.example/', environment },
});
const create = (tenant: Tenant, environment = 'sandbox') =>
  founderOf(app, tenant)('POST', '', bodyFor(environment));

function assertFull(answer: Answer): void {
  assertError(answer, 422, 'subscription_limit_reached', /limit of the Organization reached \(5\)/);
}

async function fill(tenant: Tenant): Promise<string[]> {
  const guids: string[] = [];
  for (const environment of ['sandbox', 'production', 'sandbox', 'production', 'sandbox'] as const)
    guids.push((await createSubscription(app, tenant, { environment })).guid);
  return guids;
}

test('at most five subscriptions, both environments together', async () => {
  const [tenant, stranger] = [await createTenant(app), await createTenant(app)];
  await fill(tenant);
  for (const environment of ['sandbox', 'production']) assertFull(await create(tenant, environment));
  const path = `/organizations/${tenant.organizationGuid}/subscriptions`;
  assertFull(await app.operate('POST', path, bodyFor('sandbox')));
  assert.equal((await create(stranger)).status, 201, 'another Organization has places of its own');
});

test('failed and deleting subscriptions do not count towards the limit, active and disabled ones do', async () => {
  const tenant = await createTenant(app);
  const [first = '', second = '', third = '', fourth = ''] = await fill(tenant);
  await setMoments(app, first, { activated_at: app.clock.now() });
  await app.operate('PATCH', `/subscriptions/${second}`, { disabled: true });
  assertFull(await create(tenant));
  await setMoments(app, third, { failed_at: app.clock.now() });
  assert.equal((await create(tenant)).status, 201);
  assertFull(await create(tenant));
  await founderOf(app, tenant)('DELETE', `/${fourth}`);
  assert.equal((await create(tenant)).status, 201, 'at once, so that keys can be rolled');
  assertFull(await create(tenant));
  app.clock.advance(24 * 3_600_000);
  assertFull(await create(tenant));
});

test('of twenty concurrent creations on two nodes exactly five succeed', async () => {
  const tenant = await createTenant(app);
  const token = await userToken(app, tenant.organizationGuid);
  const post = (node: TestApp, index: number) =>
    node.call({
      ...{ method: 'POST', url: '/api/subscriptions', token },
      payload: bodyFor(index % 3 ? 'sandbox' : 'production'),
    });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => post(index % 2 ? app : other, index)),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 5);
  for (const answer of answers.filter(({ status }) => status !== 201)) assertFull(answer);
  assert.equal((await founderOf(app, tenant)('GET')).body.total, 5);
});

test('at most twenty subscriptions deliver, including deleting ones', async () => {
  const tenant = await createTenant(app);
  for (let n = 0; n < 20; n += 1) {
    const { guid } = await createSubscription(app, tenant, { url: `https://partner.example/${n}` });
    assert.equal((await founderOf(app, tenant)('DELETE', `/${guid}`)).status, 200);
  }
  assertError(
    await create(tenant),
    422,
    'subscription_limit_reached',
    /Limit of delivering subscriptions reached \(20\)/,
  );
  app.clock.advance(24 * 3_600_000);
  assert.equal((await create(tenant)).status, 201, 'a day later they have ended');
});

/** Fills one URL by repeated creation and deletion. */
async function fillUrl(tenant: Tenant, url: string): Promise<string[]> {
  const guids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const { guid } = await createSubscription(app, tenant, { url });
    await founderOf(app, tenant)('DELETE', `/${guid}`);
    guids.push(guid);
  }
  return guids;
}

function assertUrlFull(answer: Answer): void {
  assertError(answer, 422, 'subscription_limit_reached', /Limit of subscriptions with this url reached \(5/);
}

test('at most five subscriptions share a URL in any spelling, including deleting ones', async () => {
  const [tenant, stranger] = [await createTenant(app), await createTenant(app)];
  await fillUrl(tenant, 'https://hooks.partner.example/a~b?x=%3D');
  const post = (url: string) => founderOf(app, tenant)('POST', '', { ...bodyFor('sandbox'), url });
  for (const url of [
    'https://hooks.partner.example/a~b?x=%3D',
    'HTTPS://HOOKS.partner.example:443/a~b?x=%3d',
    'https://hooks.partner.example./a%7Eb?x=%3D',
    'https://hooks.partner.example/c/../%61%7eb?x=%3D',
  ])
    assertUrlFull(await post(url));
  const path = `/organizations/${tenant.organizationGuid}/subscriptions`;
  const url = 'https://hooks.partner.example/a~b?x=%3D';
  assertUrlFull(await app.operate('POST', path, { ...bodyFor('production'), url }));
  assert.equal((await post('https://hooks.partner.example/a~B?x=%3D')).status, 201, 'another path');
  await createSubscription(app, stranger, { url });
  app.clock.advance(24 * 3_600_000);
  assert.equal((await post(url)).status, 201, 'a day later they have ended');
});

test('the URL limit applies to changes, and failed subscriptions do not count', async () => {
  const tenant = await createTenant(app);
  const founder = founderOf(app, tenant);
  const [first = ''] = await fillUrl(tenant, 'https://partner.example/full');
  const { guid } = await createSubscription(app, tenant, { url: 'https://partner.example/other' });
  assertUrlFull(await founder('PATCH', `/${guid}`, { url: 'https://partner.example:443/full' }));
  assert.equal((await founder('GET', `/${guid}`)).body.url, 'https://partner.example/other');
  const respelt = { url: 'https://partner.example:443/full' };
  await setMoments(app, first, { scheduled_deletion_at: null });
  assert.equal((await founder('PATCH', `/${first}`, respelt)).status, 200, 'its own place is its own');
  await setMoments(app, first, { failed_at: app.clock.now() });
  assert.equal((await founder('PATCH', `/${guid}`, { url: 'https://partner.example/full' })).status, 200);
  assertUrlFull(await founder('POST', '', { ...bodyFor('sandbox'), url: 'https://partner.example/full' }));
});

test('of concurrent creations and changes to one URL on two nodes only five hold it', async () => {
  const tenant = await createTenant(app);
  const token = await userToken(app, tenant.organizationGuid);
  const url = 'https://partner.example/wanted';
  const before: string[] = [];
  for (let n = 0; n < 4; n += 1)
    before.push((await createSubscription(app, tenant, { url: `https://partner.example/${n}` })).guid);
  for (let n = 0; n < 3; n += 1) {
    const { guid } = await createSubscription(app, tenant, { url });
    await founderOf(app, tenant)('DELETE', `/${guid}`);
  }
  const answers = await Promise.all([
    ...before.map((guid, index) =>
      (index % 2 ? app : other).call({
        ...{ method: 'PATCH', url: `/api/subscriptions/${guid}`, token, payload: { url } },
      }),
    ),
    app.call({
      ...{ method: 'POST', url: '/api/subscriptions', token, payload: { ...bodyFor('sandbox'), url } },
    }),
  ]);
  assert.equal(answers.filter(({ status }) => status < 300).length, 2);
  for (const answer of answers.filter(({ status }) => status >= 300)) assertUrlFull(answer);
});
