import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, objectsOf, soleRecord } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import {
  createSubscription,
  eventTypesOf,
  founderOf,
  setMoments,
} from '../../../testing/webhooks/subscriptions.ts';

/** Operator calls for subscriptions (contract, section 10). */
const app = await createTestApp();
const ABSENT = '0'.repeat(32);
const BODY = { type: 'webhook', name: 'Hook', url: 'https://partner.example/', environment: 'sandbox' };
const pathOf = ({ organizationGuid }: { organizationGuid: string }) =>
  `/organizations/${organizationGuid}/subscriptions`;

test('the operator creates a subscription for a partner with the same rules', async () => {
  const tenant = await createTenant(app);
  const { status, body } = await app.operate('POST', pathOf(tenant), BODY);
  assert.equal(status, 201, JSON.stringify(body));
  const { signing_key, disabled, ...shown } = body;
  assert.match(String(signing_key), /^[0-9a-f]{64}$/);
  assert.equal(disabled, false);
  assert.deepEqual((await founderOf(app, tenant)('GET', `/${body.guid}`)).body, shown);
  assert.deepEqual(await eventTypesOf(app, String(body.guid)), ['subscription.storing']);
  const record = soleRecord(await auditRecordsOf(app, String(body.guid)));
  assert.deepEqual(
    [record.actor_type, record.action, record.organization_guid],
    ['operator', 'subscription.create', tenant.organizationGuid],
  );
  const post = (input: object) => app.operate('POST', pathOf(tenant), { ...BODY, ...input });
  assertError(await post({ url: 'https://u@partner.example' }), 400, 'invalid_parameter', /^url /);
  assertError(
    await post({ url: 'http://partner.example', environment: 'production' }),
    422,
    'invalid_https_url',
  );
});

test('an unknown Organization gets 404, one without the feature 422', async () => {
  const nowhere = pathOf({ organizationGuid: ABSENT });
  assertError(await app.operate('POST', nowhere, BODY), 404, 'not_found', 'There is no such organization');
  assertError(await app.operate('GET', nowhere), 404, 'not_found', 'There is no such organization');
  const without = await createTenant(app, { features: [] });
  assertError(await app.operate('POST', pathOf(without), BODY), 422, 'not_implemented');
  assert.deepEqual(objectsOf(await app.operate('GET', pathOf(without))), []);
});

test('the operator lists and gets subscriptions with their disabled flag', async () => {
  const tenant = await createTenant(app);
  const first = await createSubscription(app, tenant);
  const second = await createSubscription(app, tenant, { environment: 'production' });
  await createSubscription(app, await createTenant(app));
  await app.operate('PATCH', `/subscriptions/${first.guid}`, { disabled: true });
  const listed = objectsOf(await app.operate('GET', pathOf(tenant)));
  assert.deepEqual(
    listed.map(({ guid, disabled }) => [guid, disabled]),
    [
      [second.guid, false],
      [first.guid, true],
    ],
  );
  for (const item of listed)
    assert.deepEqual((await app.operate('GET', `/subscriptions/${item.guid}`)).body, item);
  const filtered = await app.operate('GET', `${pathOf(tenant)}?environment=production&state=storing`);
  assert.deepEqual(
    objectsOf(filtered).map(({ guid }) => guid),
    [second.guid],
  );
  for (const method of ['GET', 'PATCH'] as const)
    assertError(
      await app.operate(method, `/subscriptions/${ABSENT}`, method === 'PATCH' ? {} : undefined),
      404,
      'not_found',
    );
});

test('protection and disabling have an audit record but no event', async () => {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant);
  const patch = async (payload: object) => {
    app.clock.advance(1_000);
    const { status, body } = await app.operate('PATCH', `/subscriptions/${guid}`, payload);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const start = await patch({});
  for (const payload of [
    { protection_enabled: true },
    { disabled: true },
    { protection_enabled: false, disabled: false },
  ]) {
    const changed = await patch(payload);
    const updated_at = app.clock.now().toISOString();
    assert.deepEqual(changed, { ...start, ...changed, ...payload, updated_at });
    assert.deepEqual(await patch(payload), changed, 'the same again changes nothing');
    const { disabled: _, ...shown } = changed;
    assert.deepEqual(
      (await founderOf(app, tenant)('GET', `/${guid}`)).body,
      shown,
      'partners see no disabled',
    );
  }
  assert.deepEqual(
    (await auditRecordsOf(app, guid, 'subscription.update')).map(({ actor_type, changes }) => [
      actor_type,
      changes,
    ]),
    [
      ['operator', { protection_enabled: false, disabled: false }],
      ['operator', { disabled: true }],
      ['operator', { protection_enabled: true }],
    ],
  );
  assert.deepEqual(await eventTypesOf(app, guid), ['subscription.storing']);
});

test('enabling a disabled subscription clears deliveries_failing_since', async () => {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant);
  const since = new Date(app.clock.now().getTime() - 6 * 24 * 3_600_000);
  await setMoments(app, guid, { deliveries_failing_since: since });
  const patch = async (disabled: boolean) =>
    (await app.operate('PATCH', `/subscriptions/${guid}`, { disabled })).body.deliveries_failing_since;
  assert.equal(await patch(false), since.toISOString());
  assert.equal(await patch(true), since.toISOString());
  app.clock.advance(2 * 24 * 3_600_000);
  await app.subscriptions.sweepFailed();
  assert.equal(await patch(true), since.toISOString());
  assert.equal(await patch(false), undefined);
  assert.equal((await app.operate('GET', `/subscriptions/${guid}`)).body.state, 'storing');
});

test('other fields are refused', async () => {
  const { guid } = await createSubscription(app, await createTenant(app));
  for (const payload of [{ name: 'x' }, { state: 'active' }, { disabled: 'yes' }, { protection_enabled: 7 }])
    assertError(
      await app.operate('PATCH', `/subscriptions/${guid}`, payload),
      400,
      'invalid_parameter',
      new RegExp(`^${Object.keys(payload)[0]} `),
    );
});

test('the operator deletes like a partner, and not a protected subscription', async () => {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant);
  await app.operate('PATCH', `/subscriptions/${guid}`, { protection_enabled: true });
  assertError(await app.operate('DELETE', `/subscriptions/${guid}`), 409, 'subscription_protected');
  await app.operate('PATCH', `/subscriptions/${guid}`, { protection_enabled: false });
  const { status, body } = await app.operate('DELETE', `/subscriptions/${guid}`);
  const deletionAt = new Date(app.clock.now().getTime() + 24 * 3_600_000).toISOString();
  assert.deepEqual([status, body.state, body.scheduled_deletion_at], [200, 'deleting', deletionAt]);
  assert.deepEqual(await eventTypesOf(app, guid), ['subscription.storing', 'subscription.deleting']);
  const record = soleRecord(await auditRecordsOf(app, guid, 'subscription.delete'));
  assert.equal(record.actor_type, 'operator');
  assertError(await app.operate('DELETE', `/subscriptions/${ABSENT}`), 404, 'not_found');
});
