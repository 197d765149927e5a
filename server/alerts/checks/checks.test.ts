import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import { createTenant, type Tenant } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { alertsOf, alertTypesOf } from '../../../testing/people/alerts.ts';
import { createSubscription, founderOf, setMoments } from '../../../testing/webhooks/subscriptions.ts';
import { setDisabled } from '../../../testing/webhooks/webhooks.ts';
import { createWaitingCheck } from './waiting.ts';

const testDatabase = await createTestDatabase();
const app = await createTestApp({ testDatabase });
const other = await createTestApp({ testDatabase, clock: app.clock });
after(() => testDatabase.drop());
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const ENDPOINT_TYPES = '&type=endpoint.failing,endpoint.recovered,subscription.failed,deliveries.waiting';

async function createEndpoint() {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant, { name: 'Ledger' });
  const fail = () => setMoments(app, guid, { deliveries_failing_since: app.clock.now() });
  const recover = () =>
    setMoments(app, guid, { deliveries_failing_since: null, recovered_at: app.clock.now() });
  const alerts = () => alertsOf(app, tenant.organizationGuid, { query: ENDPOINT_TYPES });
  const types = () => alertTypesOf(app, tenant.organizationGuid, { query: ENDPOINT_TYPES });
  return { tenant, guid, fail, recover, alerts, types };
}

/** Two nodes, each twice at once. */
const check = () =>
  Promise.all([app, other, app, other].map(({ alertsModule }) => alertsModule.checkFailing()));

test('an endpoint that fails is an alert after 10 minutes, 1 hour, 1 day and 5 days, once each', async () => {
  const { guid, fail, alerts } = await createEndpoint();
  await fail();
  app.clock.advance(10 * MINUTE - 1);
  await check();
  assert.deepEqual(await alerts(), []);
  for (const [minutes, text] of [
    [10, '10 minutes'],
    [60, '1 hour'],
    [1_440, '1 day'],
    [7_200, '5 days'],
  ] as const) {
    const [{ details } = { details: { failing_minutes: 0 } }] = (await alerts()).slice(-1);
    app.clock.advance((minutes - (Number(details.failing_minutes) || 10)) * MINUTE + 1);
    await check();
    const raised = await alerts();
    assert.equal(raised.at(-1)?.title, `Endpoint "Ledger" has failed for ${text}`);
    assert.equal(raised.at(-1)?.subscription_guid, guid);
    assert.equal(raised.at(-1)?.environment, 'sandbox');
  }
  app.clock.advance(DAY);
  await check();
  assert.equal((await alerts()).length, 4);
});

test('after an outage of the checks one alert names the longest time', async () => {
  const { fail, alerts } = await createEndpoint();
  await fail();
  app.clock.advance(DAY + 1);
  await check();
  assert.deepEqual(
    (await alerts()).map(({ details }) => details.failing_minutes),
    [1_440],
  );
});

test('a recovery is an alert only after an alert that the endpoint failed', async () => {
  const { fail, recover, types } = await createEndpoint();
  await fail();
  app.clock.advance(5 * MINUTE);
  await recover();
  await check();
  assert.deepEqual(await types(), []);
  await fail();
  app.clock.advance(11 * MINUTE);
  await check();
  app.clock.advance(1_000);
  await recover();
  await check();
  await check();
  assert.deepEqual(await types(), ['endpoint.failing', 'endpoint.recovered']);
});

test('a recovery between two checks is not lost, and the next failure is a new one', async () => {
  const { fail, recover, types } = await createEndpoint();
  await fail();
  app.clock.advance(11 * MINUTE);
  await check();
  await recover();
  app.clock.advance(1_000);
  await fail();
  app.clock.advance(11 * MINUTE);
  await check();
  await check();
  // Two nodes raise the last two at the same time, so their order is open.
  assert.deepEqual((await types()).sort(), ['endpoint.failing', 'endpoint.failing', 'endpoint.recovered']);
});

test('enabling a disabled subscription clears its failures and is no recovery', async () => {
  const { guid, fail, recover, types } = await createEndpoint();
  await recover();
  app.clock.advance(1_000);
  await fail();
  app.clock.advance(11 * MINUTE);
  await check();
  for (const disabled of [true, false]) await setDisabled(app, { guid }, disabled);
  await check();
  assert.deepEqual(await types(), ['endpoint.failing']);
});

for (const [title, changes] of [
  ['resuming a pause', [{ paused: true }, { paused: false }]],
  ['a new URL', [{ url: 'https://partner.example/moved' }]],
] as const)
  test(`${title} clears the failures of an endpoint and is no recovery`, async () => {
    const { tenant, guid, fail, types } = await createEndpoint();
    await fail();
    app.clock.advance(11 * MINUTE);
    await check();
    for (const change of changes) {
      assert.equal((await founderOf(app, tenant)('PATCH', `/${guid}`, change)).status, 200);
      await check();
    }
    assert.deepEqual(await types(), ['endpoint.failing']);
    await fail();
    app.clock.advance(11 * MINUTE);
    await check();
    assert.deepEqual(await types(), ['endpoint.failing', 'endpoint.failing']);
  });

test('a paused endpoint is not reported as failing', async () => {
  const { guid, fail, types } = await createEndpoint();
  await fail();
  await setMoments(app, guid, { paused_at: app.clock.now() });
  app.clock.advance(11 * MINUTE);
  await check();
  assert.deepEqual(await types(), []);
});

test('disabling, deleting and failing end the state without a recovery; a failed subscription is an alert', async () => {
  const [disabled, failed] = [await createEndpoint(), await createEndpoint()];
  for (const each of [disabled, failed]) await each.fail();
  app.clock.advance(11 * MINUTE);
  await check();
  await setMoments(app, disabled.guid, { disabled_at: app.clock.now() });
  app.clock.advance(7 * DAY);
  await app.subscriptions.sweepFailed();
  await app.subscriptions.sweepFailed();
  await check();
  assert.deepEqual(await disabled.types(), ['endpoint.failing']);
  assert.deepEqual(await failed.types(), ['endpoint.failing', 'subscription.failed']);
});

function waitingCheck(counts: Record<string, number>) {
  return createWaitingCheck({
    ...app,
    settings: app.alertsModule.settings,
    countWaiting: async () => new Map(Object.entries(counts).map(([guid, count]) => [guid, { count }])),
  });
}

async function choose({ organizationGuid }: Tenant, input: object) {
  const token = await app.issuer.issue({
    ...{ tokenType: 'user', organizationGuid, subject: 'f'.repeat(32), environment: undefined },
    ...{ scopes: ['organizations:write'], ipAllowlist: [], provedAt: app.clock.now(), secondFactor: true },
  });
  const answer = await app.call({
    ...{ method: 'PATCH', url: '/api/alert_settings', token: token.access_token, payload: input },
  });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

test('more waiting deliveries than the chosen number are one alert until less than half of it waits', async () => {
  const { tenant, guid, alerts } = await createEndpoint();
  await waitingCheck({ [guid]: 1_000_000 })();
  assert.deepEqual(await alerts(), [], 'no number was chosen');
  await choose(tenant, { waiting_threshold: 100 });
  for (const count of [100, 101, 500, 60, 300, 50, 0])
    await waitingCheck({ [guid]: count })().then(() => app.clock.advance(MINUTE));
  assert.deepEqual(
    (await alerts()).map(({ title }) => title),
    ['101 deliveries wait for endpoint "Ledger"'],
  );
  await waitingCheck({ [guid]: 1_200 })();
  assert.equal((await alerts()).at(-1)?.title, '1,200 deliveries wait for endpoint "Ledger"');
});

test('another number is an alert of its own, also if more than half of it waited before', async () => {
  const { tenant, guid, alerts } = await createEndpoint();
  const thresholds = async () => (await alerts()).map(({ details }) => details.waiting_threshold);
  const check = (count: number) => waitingCheck({ [guid]: count })().then(() => app.clock.advance(MINUTE));
  await choose(tenant, { waiting_threshold: 100 });
  await check(600);
  await choose(tenant, { waiting_threshold: 1_000 });
  await check(600);
  assert.deepEqual(await thresholds(), [100]);
  await check(1_500);
  assert.deepEqual(await thresholds(), [100, 1_000]);
  await choose(tenant, { waiting_threshold: 1_000, subscriptions: [] });
  await check(1_500);
  assert.deepEqual(await thresholds(), [100, 1_000], 'the number is the same');
  await choose(tenant, { waiting_threshold: 0 });
  await choose(tenant, { subscriptions: [{ guid, waiting_threshold: 1_200 }] });
  await check(1_500);
  assert.deepEqual(await thresholds(), [100, 1_000, 1_200]);
});

test('a number that changes during a check is compared by the next check', async () => {
  const { tenant, guid, alerts } = await createEndpoint();
  await choose(tenant, { waiting_threshold: 100 });
  await createWaitingCheck({
    ...app,
    settings: app.alertsModule.settings,
    async countWaiting(organizationGuid) {
      if (organizationGuid === tenant.organizationGuid) await choose(tenant, { waiting_threshold: 1_000 });
      return new Map([[guid, { count: 600 }]]);
    },
  })();
  app.clock.advance(MINUTE);
  await waitingCheck({ [guid]: 1_500 })();
  assert.deepEqual(
    (await alerts()).map(({ details }) => details.waiting_threshold),
    [1_000],
  );
});

test('a subscription can have its own number, and 0 removes the number of all', async () => {
  const { tenant, guid, types } = await createEndpoint();
  const body = await choose(tenant, {
    waiting_threshold: 10,
    subscriptions: [{ guid, waiting_threshold: 1_000 }],
  });
  assert.deepEqual(body, { waiting_threshold: 10, subscriptions: [{ guid, waiting_threshold: 1_000 }] });
  await waitingCheck({ [guid]: 900 })();
  assert.deepEqual(await types(), []);
  assert.deepEqual(await choose(tenant, { waiting_threshold: 0, subscriptions: [] }), { subscriptions: [] });
  await waitingCheck({ [guid]: 9_000 })();
  assert.deepEqual(await types(), []);
});

test('a number for a foreign subscription is refused', async () => {
  const [own, foreign] = [await createEndpoint(), await createEndpoint()];
  await assert.rejects(
    choose(own.tenant, { subscriptions: [{ guid: foreign.guid, waiting_threshold: 1 }] }),
    /there is no subscription/,
  );
});

test('the number of a deleted subscription is not shown, and is dropped when a client sends it back', async () => {
  const { tenant, guid } = await createEndpoint();
  const subscriptions = [{ guid, waiting_threshold: 50 }];
  await choose(tenant, { waiting_threshold: 1_000, subscriptions });
  await setMoments(app, guid, { deleted_at: app.clock.now() });
  app.clock.advance(1);
  const { settings } = app.alertsModule;
  assert.deepEqual(await settings.thresholds(tenant.organizationGuid), {
    ...{ waiting: 1_000, bySubscription: {} },
  });
  assert.deepEqual(await choose(tenant, { waiting_threshold: 2_000, subscriptions }), {
    ...{ waiting_threshold: 2_000, subscriptions: [] },
  });
  await assert.rejects(choose(tenant, { subscriptions }), /there is no subscription/);
});
