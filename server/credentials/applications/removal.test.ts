import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, objectsOf } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, everyScope, type Key, tokenOf, userToken } from '../../../testing/app/tenant.ts';
import { createCustomer, customerToken } from '../../../testing/objects/customers.ts';
import { allScopes } from '../../tokens/scopes.ts';

/** Removing and rotating key pairs (specification, Authentication 9; contract, sections 3 and 6). */
const app = await createTestApp();
const ORGANIZATION = '/api/organization_applications';
const BANK = '/api/bank_applications';

const askForToken = ({ clientId, secret }: Key) =>
  app.call({
    method: 'POST',
    url: '/oauth/token',
    payload: {
      ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: secret },
      scope: 'customers:read',
    },
  });

const pathsOf = (tenant: { organizationKey: Key; bankKey: Key }) => [
  { path: ORGANIZATION, kind: 'organization', key: tenant.organizationKey },
  { path: BANK, kind: 'bank', key: tenant.bankKey },
];

test('only Founder and Key Admin user tokens remove key pairs', async () => {
  const tenant = await createTenant(app);
  const customer = await createCustomer(app, tenant.bankGuid);
  const tokens = [
    await userToken(app, tenant.organizationGuid, 'developer'),
    await userToken(app, tenant.organizationGuid, 'viewer'),
    await tokenOf(app, tenant.organizationKey, everyScope('organization')),
    await tokenOf(app, tenant.bankKey, everyScope('bank')),
    await customerToken(app, tenant, customer, allScopes()),
  ];
  for (const { path, key } of pathsOf(tenant)) {
    const url = `${path}/${key.clientId}`;
    for (const token of tokens)
      assertError(await app.call({ method: 'DELETE', url, token }), 403, 'invalid_scopes');
    assert.equal((await askForToken(key)).status, 200, 'the key still works');
  }
  for (const { path, key } of pathsOf(tenant)) {
    const url = `${path}/${key.clientId}`;
    const keyAdmin = await userToken(app, tenant.organizationGuid, 'key_admin');
    assert.equal((await app.call({ method: 'DELETE', url, token: keyAdmin })).status, 204);
  }
});

test('a removed key gets no new token, its tokens are revoked, and it is neither found nor listed', async () => {
  const tenant = await createTenant(app);
  const founder = await userToken(app, tenant.organizationGuid);
  for (const { path, kind, key } of pathsOf(tenant)) {
    const url = `${path}/${key.clientId}`;
    const issued = await tokenOf(app, key, 'customers:read');
    assert.equal((await app.call({ url: '/api/customers', token: issued })).status, 200);
    assert.equal((await app.call({ method: 'DELETE', url, token: founder })).status, 204);
    assertError(await app.call({ url: '/api/customers', token: issued }), 401, 'authentication_failed');
    assertError(await askForToken(key), 401, 'invalid_client');
    for (const method of ['GET', 'DELETE'] as const)
      assertError(await app.call({ method, url, token: founder }), 404, 'not_found');
    const payload = { name: 'x' };
    assertError(await app.call({ method: 'PATCH', url, token: founder, payload }), 404, 'not_found');
    assert.deepEqual(objectsOf(await app.call({ url: path, token: founder })), []);
    const [record] = await auditRecordsOf(app, key.clientId);
    assert.deepEqual(
      [record?.action, record?.actor_type, record?.changes],
      [`${kind}_application.remove`, 'user', { name: 'Key' }],
    );
  }
});

test('removing a key revokes the customer tokens that it obtained', async () => {
  const tenant = await createTenant(app);
  const customer_guid = await createCustomer(app, tenant.bankGuid);
  const token = await tokenOf(app, tenant.bankKey, 'customers:read customers:write');
  const payload = { customer_guid, scopes: ['customers:read'] };
  const issued = await app.call({ method: 'POST', url: '/api/customer_tokens', token, payload });
  const held = { url: `/api/customers/${customer_guid}`, token: String(issued.body.access_token) };
  assert.equal((await app.call(held)).status, 200);
  const founder = await userToken(app, tenant.organizationGuid);
  await app.call({ method: 'DELETE', url: `${BANK}/${tenant.bankKey.clientId}`, token: founder });
  assertError(await app.call(held), 401, 'authentication_failed');
});

test('of two concurrent removals one gets 204 and the other 404', async () => {
  const { organizationGuid, bankKey } = await createTenant(app);
  const token = await userToken(app, organizationGuid);
  const remove = () => app.call({ method: 'DELETE', url: `${BANK}/${bankKey.clientId}`, token });
  const answers = await Promise.all([remove(), remove()]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 404]);
  assert.equal((await auditRecordsOf(app, bankKey.clientId, 'bank_application.remove')).length, 1);
});

test('rotation: a second key pair works beside the first, and after its removal', async () => {
  const tenant = await createTenant(app);
  const founder = await userToken(app, tenant.organizationGuid);
  for (const { path, kind, key: old } of pathsOf(tenant)) {
    const owner = kind === 'bank' ? { bank_guid: tenant.bankGuid } : {};
    const payload = { name: 'New', ip_allowlist: ['193.0.6.0/24'], ...owner };
    const { body } = await app.call({ method: 'POST', url: path, token: founder, payload });
    const fresh = { clientId: String(body.client_id), secret: String(body.client_secret) };
    const calls = async () => {
      const [first, second] = [
        await tokenOf(app, old, 'customers:read'),
        await tokenOf(app, fresh, 'customers:read'),
      ];
      return Promise.all([
        app.call({ url: '/api/customers', token: first }),
        app.call({ url: '/api/customers', token: second, remoteAddress: '193.0.6.139' }),
      ]);
    };
    assert.deepEqual(
      (await calls()).map(({ status }) => status),
      [200, 200],
    );
    const lasting = await tokenOf(app, fresh, 'customers:read');
    await app.call({ method: 'DELETE', url: `${path}/${old.clientId}`, token: founder });
    assertError(await askForToken(old), 401, 'invalid_client');
    const call = { url: '/api/customers', token: lasting, remoteAddress: '193.0.6.139' };
    assert.equal((await app.call(call)).status, 200);
    const [left, ...none] = objectsOf(await app.call({ url: path, token: founder }));
    assert.deepEqual([left?.client_id, none], [fresh.clientId, []]);
  }
});
