import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../../testing/api/answers.ts';
import { createTestApp } from '../../../../testing/app/app.ts';
import { createTenant, PRODUCTION_HOST, tokenOf, userToken } from '../../../../testing/app/tenant.ts';
import { createSubscription, setMoments } from '../../../../testing/webhooks/subscriptions.ts';

/** GET /api/subscription_targets */
const app = await createTestApp();
const tenant = await createTenant(app);
const later = () => new Date(app.clock.now().getTime() + 1);

async function targets(token: string): Promise<unknown[]> {
  const answer = await app.call({ url: '/api/subscription_targets', token });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return objectsOf(answer);
}

test('each environment lists its own subscriptions; a user token without an environment sees both', async () => {
  await createSubscription(app, await createTenant(app));
  const sandbox = await createSubscription(app, tenant);
  const production = await createSubscription(app, tenant, { environment: 'production' });
  const shown = [sandbox, production].map(({ guid: subscription_guid, environment }) => ({
    ...{ subscription_guid, environment },
  }));
  const scope = 'subscription_events:read';
  const { organizationKey: key, organizationGuid } = tenant;
  assert.deepEqual(await targets(await tokenOf(app, key, scope)), [shown[0]]);
  assert.deepEqual(await targets(await tokenOf(app, key, scope, { host: PRODUCTION_HOST })), [shown[1]]);
  assert.deepEqual(await targets(await userToken(app, organizationGuid, 'viewer')), shown);
});

test('exactly the subscriptions that accept a redelivery are listed', async () => {
  const owner = await createTenant(app);
  const { guid } = await createSubscription(app, owner);
  const token = await userToken(app, owner.organizationGuid, 'developer');
  const NONE = { failed_at: null, disabled_at: null, scheduled_deletion_at: null, deleted_at: null };
  const now = app.clock.now();
  for (const moments of [
    {},
    { activated_at: now },
    { scheduled_deletion_at: later() },
    { disabled_at: now },
    { failed_at: now },
    { failed_at: now, scheduled_deletion_at: later() },
    { scheduled_deletion_at: now },
    { deleted_at: now },
  ]) {
    await setMoments(app, guid, { ...NONE, ...moments });
    const listed = await targets(token);
    const redelivery = await app.call({
      method: 'POST',
      url: '/api/subscription_recoveries',
      token,
      payload: { subscription_guid: guid, since: '2026-01-01T00:00:00Z' },
    });
    assert.ok([201, 409].includes(redelivery.status), JSON.stringify(redelivery.body));
    assert.equal(listed.length, redelivery.status === 201 ? 1 : 0, JSON.stringify(moments));
  }
});
