import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { auditRecordsOf, soleRecord } from '../../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant, everyScope, tokenOf } from '../../../../testing/app/tenant.ts';
import { lockWaits, whileTableIsLocked } from '../../../../testing/database/locks.ts';
import { createCustomer } from '../../../../testing/objects/customers.ts';
import { until } from '../../../../testing/webhooks/webhooks.ts';

/** Audit records of calls denied for their source address, merged during a flood. */
const app = await createTestApp({ environment: { PORTICO_TRUSTED_PROXIES: '127.0.0.1' } });
const OUTSIDE = '198.35.26.97';

async function gated() {
  const tenant = await createTenant(app, { ipAllowlist: ['198.35.26.96'] });
  const token = await tokenOf(app, tenant.organizationKey, everyScope('organization'));
  const deny = async (url = '/api/customers', remoteAddress = OUTSIDE) => {
    const answer = await app.call({ url, token, remoteAddress });
    assertError(answer, 403, 'ip_not_allowed');
    return answer;
  };
  const recorded = async (options = {}) => {
    await app.denials.flush(options);
    return auditRecordsOf(app, tenant.organizationKey.clientId, 'access.deny');
  };
  return { tenant, deny, recorded };
}

async function deniedCalls(): Promise<number> {
  const { body } = await app.server.inject({ url: '/metrics' });
  return Number(/^portico_denied_calls_total (\d+)$/m.exec(body)?.[1]);
}

const timesOf = (records: { changes: Record<string, unknown> }[]) =>
  records.map(({ changes }) => Number(changes.times));
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

test('a denied call is in the audit log at once, with its key, address, path and request', async () => {
  const { tenant, deny, recorded } = await gated();
  const { headers } = await deny(`/api/organization_applications/${tenant.organizationKey.clientId}`);
  assert.deepEqual(soleRecord(await recorded()), {
    organization_guid: tenant.organizationGuid,
    ...{ actor_type: 'application', actor: tenant.organizationKey.clientId, address: OUTSIDE },
    ...{ action: 'access.deny', object_type: 'application', object_id: tenant.organizationKey.clientId },
    changes: { reason: 'ip_not_allowed', path: '/api/organization_applications/:client_id', times: 1 },
    ...{ request_id: headers['x-request-id'], created_at: app.clock.now().toISOString() },
  });
});

test('every denied call is counted in the metrics, and no other call', async () => {
  const { deny } = await gated();
  const open = await createTenant(app);
  const token = await tokenOf(app, open.organizationKey, 'trades:read');
  const before = await deniedCalls();
  for (let call = 0; call < 3; call++) await deny();
  assertError(await app.call({ url: '/api/customers', token }), 403, 'invalid_scopes');
  assert.equal(await deniedCalls(), before + 3);
});

test('an allowed call leaves no record', async () => {
  const { tenant, recorded } = await gated();
  const token = await tokenOf(app, tenant.organizationKey, 'customers:read');
  assert.equal((await app.call({ url: '/api/customers', token, remoteAddress: '198.35.26.96' })).status, 200);
  assert.deepEqual(await recorded({ all: true }), []);
});

test('an allowed call whose connection closes while its token is verified leaves no record', async (t) => {
  const { tenant, recorded } = await gated();
  const token = await tokenOf(app, tenant.organizationKey, 'customers:read');
  const origin = await app.server.listen({ host: '127.0.0.1', port: 0 });
  const before = await deniedCalls();
  // A node without a lease checks tokens in the database, and nothing else of it waits for the table.
  await app.revocations.stop();
  t.after(app.revocations.start);
  await whileTableIsLocked(app.database, 'revocations', async () => {
    const connected = once(app.server.server, 'connection') as Promise<[Socket]>;
    const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': '198.35.26.96' };
    const call = request(`${origin}/api/customers`, { headers }).on('error', () => {});
    call.end();
    const [socket] = await connected;
    await until(async () => (await lockWaits(app.database.queries)) > 0);
    call.destroy();
    await once(socket, 'close');
  });
  // Verified after the call before it.
  assert.equal((await app.call({ url: '/api/customers', token, remoteAddress: '198.35.26.96' })).status, 200);
  assert.deepEqual([await recorded({ all: true }), await deniedCalls()], [[], before]);
});

test('1,000 denied calls are merged into few records, whose counts add up to 1,000', async () => {
  const { deny, recorded } = await gated();
  for (let wave = 0; wave < 10; wave++) {
    await Promise.all(Array.from({ length: 100 }, () => deny()));
    app.clock.advance(3_000);
  }
  assert.deepEqual(timesOf(await recorded()), [1], 'the first is recorded at once, the others are merged');
  const times = timesOf(await recorded({ all: true }));
  assert.equal(sum(times), 1_000);
  assert.ok(times.length <= 2, `${times.length} records`);
  assert.deepEqual(timesOf(await recorded({ all: true })), times, 'and only once');
});

test('after a minute the next denied call is recorded at once, with the count since the last record', async () => {
  const { deny, recorded } = await gated();
  for (let call = 0; call < 5; call++) await deny();
  app.clock.advance(60_000);
  await deny();
  assert.deepEqual(timesOf(await recorded()), [1, 4, 1]);
  app.clock.advance(60_000);
  assert.deepEqual(timesOf(await recorded()), [1, 4, 1], 'no count is pending');
});

test('the pending count is recorded after a minute without another call', async () => {
  const { deny, recorded } = await gated();
  for (let call = 0; call < 5; call++) await deny();
  app.clock.advance(60_000);
  await app.nodeTasks.runOnce();
  assert.deepEqual(timesOf(await recorded()), [4, 1]);
});

test('each key and each address has records of its own', async () => {
  const [first, second] = [await gated(), await gated()];
  for (const address of [OUTSIDE, '193.0.6.139', '2001:4860::1']) await first.deny(undefined, address);
  await second.deny();
  const addresses = (await first.recorded()).map(({ address }) => address);
  assert.deepEqual(addresses, ['2001:4860::1', '193.0.6.139', OUTSIDE]);
  assert.equal((await second.recorded()).length, 1);
});

test('a flood from many addresses is merged into few records', async () => {
  const { deny, recorded } = await gated();
  for (let host = 0; host < 200; host++) await deny(undefined, `2001:4860::${host.toString(16)}`);
  const times = timesOf(await recorded({ all: true }));
  assert.equal(sum(times), 200);
  assert.ok(times.length <= 25, `${times.length} records`);
});

test('a denied request to /oauth/customer_token is recorded too', async () => {
  const { tenant, recorded } = await gated();
  const { clientId, secret } = tenant.organizationKey;
  const customer_guid = await createCustomer(app, tenant.bankGuid);
  const credentials = { client_id: clientId, client_secret: secret };
  const payload = { grant_type: 'client_credentials', ...credentials, customer_guid, scope: 'trades:read' };
  const before = await deniedCalls();
  const options = { method: 'POST', url: '/oauth/customer_token', payload, remoteAddress: OUTSIDE } as const;
  assertError(await app.call(options), 403, 'ip_not_allowed', 'IP address not in allowlist');
  const [record] = await recorded();
  assert.deepEqual([record?.address, record?.changes.path], [OUTSIDE, '/oauth/customer_token']);
  assert.equal(await deniedCalls(), before + 1);
});
