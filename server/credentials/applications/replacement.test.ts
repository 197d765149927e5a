import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, userToken } from '../../../testing/app/tenant.ts';

/** A rotation: a key pair names the one that it replaces. */
const app = await createTestApp();
const INPUT = { name: 'New', ip_allowlist: ['9.9.9.9'] };

async function createOwner() {
  const tenant = await createTenant(app);
  const token = await userToken(app, tenant.organizationGuid);
  const call = (method: 'GET' | 'POST' | 'DELETE', path: string, payload?: object) =>
    app.call({ method, url: `/api/${path}`, token, ...(payload ? { payload } : {}) });
  return { tenant, call };
}

test('a new key pair names the one that it replaces, until that is deleted', async () => {
  const { tenant, call } = await createOwner();
  const replaces_client_id = tenant.organizationKey.clientId;
  const rotate = () => call('POST', 'organization_applications', { ...INPUT, replaces_client_id });
  const [first, second] = await Promise.all([rotate(), rotate()]);
  const [created, refused] = first.status === 201 ? [first, second] : [second, first];
  assert.equal(created.body.replaces_client_id, replaces_client_id);
  const path = `organization_applications/${created.body.client_id}`;
  assertError(refused, 409, 'state_conflict', new RegExp(`that ${created.body.client_id} already replaces`));
  assert.equal((await call('GET', path)).body.replaces_client_id, replaces_client_id);
  assert.equal((await call('DELETE', `organization_applications/${replaces_client_id}`)).status, 204);
  assert.ok(!('replaces_client_id' in (await call('GET', path)).body));
});

test('a rotation that is given up can begin again', async () => {
  const { tenant, call } = await createOwner();
  const input = { ...INPUT, bank_guid: tenant.bankGuid, replaces_client_id: tenant.bankKey.clientId };
  const { body } = await call('POST', 'bank_applications', input);
  assert.equal((await call('DELETE', `bank_applications/${body.client_id}`)).status, 204);
  assert.equal((await call('POST', 'bank_applications', input)).status, 201);
});

test('a key pair of another owner cannot be replaced', async () => {
  const { tenant, call } = await createOwner();
  const { tenant: stranger } = await createOwner();
  for (const replaces_client_id of [
    tenant.bankKey.clientId,
    stranger.organizationKey.clientId,
    '0'.repeat(32),
  ])
    assertError(
      await call('POST', 'organization_applications', { ...INPUT, replaces_client_id }),
      ...([404, 'not_found', /^replaces_client_id/] as const),
    );
});
