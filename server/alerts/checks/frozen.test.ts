import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import { operator } from '../../../testing/app/cells.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createSubscription, setMoments } from '../../../testing/webhooks/subscriptions.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import { createWaitingCheck } from './waiting.ts';

/** Nothing of a frozen Organization changes: an export may have read its alerts already. */
const app = await createTestApp();
const { clock, alertsModule } = app;
const { organizationGuid, ...tenant } = await createTenant(app);
const { guid } = await createSubscription(app, { organizationGuid, ...tenant });
const THRESHOLDS = { waiting: 10, bySubscription: {} };
let waiting = 0;
const checkWaiting = createWaitingCheck({
  ...app,
  settings: {
    ...alertsModule.settings,
    withThreshold: async () => [{ organizationGuid, ...THRESHOLDS }],
    lockThresholds: async () => THRESHOLDS,
  },
  countWaiting: async () => new Map([[guid, { count: waiting }]]),
});

async function runChecks(): Promise<void> {
  await alertsModule.checkFailing();
  await checkWaiting();
  await alertsModule.notifier.drain();
}

async function read() {
  const { queries } = app.database;
  const alerts = await queries
    .selectFrom('alerts')
    .select(['type', 'notified_at'])
    .where('organization_guid', '=', organizationGuid)
    .where('type', 'in', ['endpoint.failing', 'endpoint.recovered', 'deliveries.waiting'])
    .orderBy('guid')
    .execute();
  return { alerts, endpoints: await queries.selectFrom('alert_endpoints').selectAll().execute() };
}

async function whileFrozen(work: () => Promise<void>): Promise<void> {
  assert.ok(!isFailure(await app.transfers.freeze(operator, organizationGuid)));
  await work();
  assert.ok(!isFailure(await app.transfers.unfreeze(operator, organizationGuid)));
}

const typesOf = async () => (await read()).alerts.map(({ type }) => type);

test('alerts of a frozen Organization are raised and announced when it is unfrozen', async () => {
  await setMoments(app, guid, { deliveries_failing_since: clock.now() });
  clock.advance(11 * 60_000);
  waiting = 11;
  await whileFrozen(async () => {
    await runChecks();
    assert.deepEqual(await read(), { alerts: [], endpoints: [] });
  });
  await alertsModule.checkFailing();
  await checkWaiting();
  assert.deepEqual(await typesOf(), ['endpoint.failing', 'deliveries.waiting']);

  await setMoments(app, guid, { deliveries_failing_since: null, recovered_at: clock.now() });
  waiting = 0;
  await whileFrozen(async () => {
    const before = await read();
    assert.ok(before.alerts.every(({ notified_at: at }) => at === null));
    await runChecks();
    assert.deepEqual(await read(), before);
  });
  await runChecks();
  assert.deepEqual(await typesOf(), ['endpoint.failing', 'deliveries.waiting', 'endpoint.recovered']);
  const { alerts, endpoints } = await read();
  assert.ok(alerts.every(({ notified_at: at }) => at !== null));
  assert.deepEqual(endpoints, []);
});
