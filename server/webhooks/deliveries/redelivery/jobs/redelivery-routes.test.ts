import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, objectsOf, soleRecord } from '../../../../../testing/api/answers.ts';
import { issueToken } from '../../../../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../../../../testing/app/app.ts';
import { createTenant, PRODUCTION_HOST, tokenOf, userToken } from '../../../../../testing/app/tenant.ts';
import { createCustomer } from '../../../../../testing/objects/customers.ts';
import { createSubscription } from '../../../../../testing/webhooks/subscriptions.ts';
import { createRedeliveryJobs } from '../../testing/redelivery-jobs.ts';

/** /api/subscription_recoveries: input, visibility and lists (contract, section 7). */
const app = await createTestApp();
const { clock } = app;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const { createOwner, post, recover, run, ago } = createRedeliveryJobs(app);
const since = () => ago(DAY_MS).toISOString();

test('a redelivery to a subscription that no longer delivers: 409', async () => {
  const { owner, subscription } = await createOwner();
  await app.operate('PATCH', `/subscriptions/${subscription.guid}`, { disabled: true });
  const answer = await post(owner, { subscription_guid: subscription.guid, since: since() });
  assertError(answer, 409, 'delivery_not_retryable', /^subscription_guid /);
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
