import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, soleRecord } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createSubscription, founderOf, setMoments } from '../../../testing/webhooks/subscriptions.ts';

/** A roll of a signing key: a subscription names the one that it replaces. */
const app = await createTestApp();
const BODY = { type: 'webhook', name: 'New', url: 'https://partner.example/hook', environment: 'sandbox' };

test('a new subscription names the one that it replaces; one roll at a time', async () => {
  const tenant = await createTenant(app);
  const founder = founderOf(app, tenant);
  const { guid: old } = await createSubscription(app, tenant);
  const roll = () => founder('POST', '', { ...BODY, replaces_guid: old });
  const [first, second] = await Promise.all([roll(), roll()]);
  const [created, refused] = first.status === 201 ? [first, second] : [second, first];
  assert.equal(created.body.replaces_guid, old);
  const guid = String(created.body.guid);
  assertError(refused, 409, 'state_conflict', new RegExp(`that ${guid} already replaces`));
  assert.equal((await founder('GET', `/${guid}`)).body.replaces_guid, old);
  const record = soleRecord(await auditRecordsOf(app, guid, 'subscription.create'));
  assert.equal((record.changes as Record<string, unknown>).replaces_guid, old);
  await founder('DELETE', `/${guid}`);
  assert.equal((await roll()).status, 201, 'a roll that was given up can begin again');
});

test('a subscription of another tenant or environment, or one that has ended, cannot be replaced', async () => {
  const tenant = await createTenant(app);
  const founder = founderOf(app, tenant);
  const { guid: foreign } = await createSubscription(app, await createTenant(app));
  const { guid: production } = await createSubscription(app, tenant, { environment: 'production' });
  for (const replaces_guid of [foreign, production, '0'.repeat(32)])
    assertError(await founder('POST', '', { ...BODY, replaces_guid }), 404, 'not_found', /^replaces_guid/);
  const { guid: failed } = await createSubscription(app, tenant);
  await setMoments(app, failed, { failed_at: app.clock.now() });
  assertError(await founder('POST', '', { ...BODY, replaces_guid: failed }), 409, 'state_conflict');
});
