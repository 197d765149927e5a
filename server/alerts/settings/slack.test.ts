import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { operator } from '../../../testing/app/cells.ts';
import { LIMITED } from '../../../testing/app/patience.ts';
import { createTenant, userToken } from '../../../testing/app/tenant.ts';
import { createTestEndpoint, hold } from '../../../testing/webhooks/test-endpoint.ts';
import type { RunApart } from '../../infrastructure/http/limits/calls-in-flight.ts';
import { recordNothing } from '../../infrastructure/idempotency/record-answer.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';

const app = await createTestApp({ environment: { PORTICO_WEBHOOK_ALLOW_PRIVATE: 'true' } });
const { notifier } = app.alertsModule;
const MINUTE = 60_000;

async function createSlack(path = '/services/T0000/B0000/secret-x7Qz') {
  const { organizationGuid } = await createTenant(app);
  await notifier.drain();
  const endpoint = await createTestEndpoint();
  const call = async (method: 'GET' | 'PATCH' | 'POST' | 'DELETE', suffix = '', payload?: object) =>
    app.call({
      ...{ method, url: `/api/alert_slack${suffix}`, token: await userToken(app, organizationGuid) },
      ...(payload ? { payload } : {}),
    });
  const url = new URL(path, endpoint.url).href;
  const set = await call('PATCH', '', { url });
  assert.equal(set.status, 200, JSON.stringify(set.body));
  return { organizationGuid, endpoint, call, url, set: set.body };
}

function raise(organizationGuid: string, name = 'Ledger') {
  return app.database.transaction((transaction) =>
    app.alerts.raise(transaction, [
      {
        ...{ type: 'key.removed', organizationGuid },
        details: { client_id: 'c', name, actor_type: 'operator', actor: 'operator' },
      },
    ]),
  );
}

const textsOf = (endpoint: { received: readonly { body: Buffer }[] }) =>
  endpoint.received.map(({ body }) => String(JSON.parse(body.toString()).text));

test('an alert is posted once in the format of Slack', async () => {
  const { organizationGuid, endpoint, call } = await createSlack();
  await raise(organizationGuid, '<Ledger> & co');
  await notifier.drain();
  const [text, ...more] = textsOf(endpoint);
  assert.equal(more.length, 0);
  assert.match(String(text), /^\*Key "&lt;Ledger&gt; &amp; co" was removed\*\nRemoved by the operator\./);
  assert.ok(String(text).endsWith(`<http://localhost:4000/alerts?org=${organizationGuid}|View alerts>`));
  assert.match(String(endpoint.received[0]?.headers['user-agent']), /^Portico-Alerts\//);
  const { body } = await call('GET');
  assert.deepEqual([typeof body.posted_at, body.failure], ['string', undefined]);
});

test('names contain no mentions and no links, also in the test message', async () => {
  const { organizationGuid, endpoint, call } = await createSlack();
  const name = '<!channel> <https://evil.example|Log in> @here @Everyone';
  await app.operate('PATCH', `/organizations/${organizationGuid}`, { name });
  await raise(organizationGuid, name);
  await notifier.drain();
  assert.equal((await call('POST', '/test')).body.posted, true);
  const texts = textsOf(endpoint);
  assert.equal(texts.length, 2);
  for (const text of texts) assert.doesNotMatch(text, /<!|<https:|@(here|everyone)/i);
});

test('the URL is a secret: encrypted at rest, masked in responses and in the audit log', async () => {
  const { organizationGuid, endpoint, url, set, call } = await createSlack();
  assert.equal(set.url, `${new URL(endpoint.url).origin}/…x7Qz`);
  const { slack_url_encrypted: stored } = await app.database.queries
    .selectFrom('alert_settings')
    .selectAll()
    .where('organization_guid', '=', organizationGuid)
    .executeTakeFirstOrThrow();
  assert.ok(stored && !stored.includes('secret'));
  const records = await auditRecordsOf(app, organizationGuid, 'alert_settings.update');
  assert.deepEqual(records[0]?.changes, { slack: set.url });
  assert.ok(!app.logged.join().includes(url));
  assert.equal((await call('DELETE')).status, 204);
  assert.deepEqual((await call('GET')).body, {});
});

test('a URL whose master key is lost can be replaced', async () => {
  const { organizationGuid, call, url } = await createSlack();
  await app.database.queries
    .updateTable('alert_settings')
    .set({ slack_url_encrypted: Buffer.alloc(80, 1) })
    .where('organization_guid', '=', organizationGuid)
    .execute();
  assert.equal((await call('PATCH', '', { url })).status, 200);
});

test('a URL that is sent back unchanged or masked stays', async () => {
  const { organizationGuid, endpoint, call, url, set } = await createSlack();
  assert.equal((await call('POST', '/test')).body.posted, true);
  const before = (await call('GET')).body;
  for (const same of [url, set.url]) {
    const { status, body } = await call('PATCH', '', { url: same });
    assert.deepEqual([status, body], [200, before]);
  }
  assert.equal((await auditRecordsOf(app, organizationGuid, 'alert_settings.update')).length, 1);
  await raise(organizationGuid);
  await notifier.drain();
  assert.deepEqual(
    endpoint.received.map(({ path }) => path),
    [new URL(url).pathname, new URL(url).pathname],
  );
  await call('DELETE');
  assertError(await call('PATCH', '', { url: set.url }), 400, 'invalid_parameter', /whole URL/);
});

test('the outcome of a message to a replaced URL does not count for the new one', async () => {
  const { organizationGuid, endpoint, call } = await createSlack();
  const [held, other] = [hold(), await createTestEndpoint()];
  endpoint.behave(held);
  await raise(organizationGuid);
  const sending = notifier.drain();
  await endpoint.waitForCount(1);
  const { body } = await call('PATCH', '', { url: other.url });
  held.release({ status: 404 });
  await sending;
  assert.deepEqual((await call('GET')).body, body);
  app.clock.advance(MINUTE / 2);
  await notifier.drain();
  assert.equal(other.received.length, 1, 'the alert is sent to the new URL');
});

test('a failed message is retried with the others of its type, and its outcome is shown', async () => {
  const { organizationGuid, endpoint, call } = await createSlack();
  endpoint.behave({ kind: 'answer', status: 500 });
  await raise(organizationGuid, 'one');
  await notifier.drain();
  assert.equal((await call('GET')).body.failure, 'answered 500');
  endpoint.behave({ kind: 'answer' });
  await raise(organizationGuid, 'two');
  await notifier.drain();
  assert.equal(endpoint.received.length, 1, 'not before its time');
  app.clock.advance(MINUTE / 2);
  await notifier.drain();
  assert.match(String(textsOf(endpoint)[1]), /"one"[\s\S]*"two"/);
  assert.equal((await call('GET')).body.failure, undefined);
});

test('a URL that is gone is not retried; Retry-After is honored', async () => {
  const [gone, busy] = [await createSlack(), await createSlack()];
  gone.endpoint.behave({ kind: 'answer', status: 404 });
  busy.endpoint.behave({ kind: 'answer', status: 429, headers: { 'retry-after': '120' } });
  for (const { organizationGuid } of [gone, busy]) await raise(organizationGuid);
  await notifier.drain();
  app.clock.advance(MINUTE);
  await notifier.drain();
  assert.deepEqual([gone.endpoint.received.length, busy.endpoint.received.length], [1, 1]);
  app.clock.advance(MINUTE);
  await notifier.drain();
  assert.deepEqual([gone.endpoint.received.length, busy.endpoint.received.length], [1, 2]);
});

test('the test message shows the answer of the URL, and is limited', async () => {
  const { endpoint, call } = await createSlack();
  assert.deepEqual((await call('POST', '/test')).body, { posted: true });
  endpoint.behave({ kind: 'answer', status: 403 });
  assert.deepEqual((await call('POST', '/test')).body, { posted: false, failure: 'answered 403' });
  assert.match(String(textsOf(endpoint)[0]), /^Test message: alerts of Acme/);
  app.clock.advance(5 * MINUTE - (app.clock.now().getTime() % (5 * MINUTE)));
  for (let count = 0; count < 10; count++) assert.equal((await call('POST', '/test')).status, 200);
  assertError(await call('POST', '/test'), 429, 'rate_limit_exceeded');
  app.clock.advance(5 * MINUTE);
  await call('DELETE');
  const { body } = await call('POST', '/test');
  assert.deepEqual(body, { posted: false, failure: 'no URL is set, or it is not https' });
});

test('a silent URL blocks no other calls of the Organization', LIMITED, async () => {
  const { endpoint, call } = await createSlack();
  const silent = hold();
  endpoint.behave(silent);
  // More than calls of one Organization run at a time.
  const testing = Array.from({ length: 6 }, () => call('POST', '/test'));
  await endpoint.waitForCount(2);
  assert.equal((await call('GET')).status, 200);
  endpoint.behave({ kind: 'answer' });
  silent.release();
  for (const { body } of await Promise.all(testing)) assert.deepEqual(body, { posted: true });
});

test('a test message that ends in a frozen Organization is not recorded', async () => {
  const { organizationGuid } = await createSlack();
  const freezeMeanwhile: RunApart = (work) =>
    work(async (step) => {
      await app.transfers.freeze(operator, organizationGuid);
      return step();
    });
  const { slackTest } = app.alertsModule;
  const refused = await slackTest(operator, organizationGuid, recordNothing, freezeMeanwhile);
  assert.ok(isFailure(refused));
  assert.equal(refused.code, 'organization_moving');
  assert.deepEqual(await auditRecordsOf(app, organizationGuid, 'alert_settings.test'), []);
});

test('https is required for a live Organization, and its private addresses are not reached', async () => {
  const { organizationGuid, endpoint, call, url } = await createSlack();
  await app.database.queries
    .updateTable('organizations')
    .set({ live: true })
    .where('guid', '=', organizationGuid)
    .execute();
  assertError(await call('PATCH', '', { url }), 422, 'invalid_https_url');
  assert.equal((await call('POST', '/test')).body.posted, false);
  assert.equal((await call('PATCH', '', { url: url.replace('http:', 'https:') })).status, 200);
  assert.deepEqual((await call('POST', '/test')).body, {
    ...{ posted: false, failure: 'the host does not resolve to a public address' },
  });
  assert.equal(endpoint.received.length, 0);
});

test('Key Admins can set the URL, Developers cannot', async () => {
  const { organizationGuid, url } = await createSlack();
  const developer = await userToken(app, organizationGuid, 'developer');
  const call = { method: 'PATCH', url: '/api/alert_slack', payload: { url } } as const;
  assertError(await app.call({ ...call, token: developer }), 403, 'invalid_scopes');
  const token = await userToken(app, organizationGuid, 'key_admin');
  assert.equal((await app.call({ ...call, token })).status, 200);
});

test('a new master key re-encrypts the URL', async () => {
  const { call } = await createSlack();
  const before = (await call('GET')).body;
  const newKey = 'b2'.repeat(32);
  const rotated = await createTestApp({
    testDatabase: app.testDatabase,
    clock: app.clock,
    environment: { PORTICO_MASTER_KEY: `${newKey},${'a1'.repeat(32)}` },
  });
  assert.equal((await rotated.operate('POST', '/master_key/rotate')).status, 200);
  const only = await createTestApp({
    ...{ testDatabase: app.testDatabase, clock: app.clock, environment: { PORTICO_MASTER_KEY: newKey } },
  });
  const organizations = await only.database.queries.selectFrom('alert_settings').selectAll().execute();
  for (const { organization_guid: guid, slack_url_encrypted: encrypted } of organizations)
    if (encrypted) assert.ok((await only.alertsModule.settings.slack(guid)).shown);
  assert.ok(before.url);
});
