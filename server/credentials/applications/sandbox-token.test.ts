import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issueToken } from '../../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createKey, createTenant, type Tenant } from '../../../testing/app/tenant.ts';

/** A sandbox token can change Organization keys only until the Organization is in production. */
const app = await createTestApp();
const MESSAGE = 'Organization keys work in production too; change them with a production token';

const openProductionBank = ({ organizationGuid }: Tenant) =>
  app.operate('POST', `/organizations/${organizationGuid}/banks`, {
    name: 'Live',
    environment: 'production',
  });
const goLive = ({ organizationGuid }: Tenant) =>
  app.operate('PATCH', `/organizations/${organizationGuid}`, { live: true });

type Environment = 'sandbox' | 'production';
const tokenFor = (tenant: Tenant, type: 'organization' | 'user', environment: Environment) =>
  issueToken(app, { ...tenant, customerGuid: '' }, type, { environment });

const payload = { name: 'Other', ip_allowlist: ['9.9.9.9'], scopes: ['trades:read'] };

function edit(token: string, clientId: string, changes: object = payload) {
  return app.call({
    method: 'PATCH',
    url: `/api/organization_applications/${clientId}`,
    token,
    payload: changes,
  });
}

for (const [name, enter] of [
  ['has a production bank', openProductionBank],
  ['is live', goLive],
] as const)
  test(`an Organization that ${name}: a sandbox token cannot edit, create or remove its keys`, async () => {
    const tenant = await createTenant(app, { ipAllowlist: ['8.8.8.8'] });
    const { clientId } = tenant.organizationKey;
    const inside = { remoteAddress: '8.8.8.8' };
    for (const type of ['organization', 'user'] as const)
      assert.equal(
        (await edit(await tokenFor(tenant, type, 'sandbox'), clientId, { name: type })).status,
        200,
      );
    assert.ok((await enter(tenant)).status < 300);

    for (const type of ['organization', 'user'] as const) {
      const sandbox = await tokenFor(tenant, type, 'sandbox');
      for (const [field, value] of Object.entries(payload))
        assertError(await edit(sandbox, clientId, { [field]: value }), 403, 'invalid_scopes', MESSAGE);
      assertError(await edit(sandbox, '0'.repeat(32)), 404, 'not_found');
      const url = `/api/organization_applications/${clientId}`;
      assert.equal((await app.call({ url, token: sandbox, ...inside })).body.name, 'user');
    }
    const sandbox = await tokenFor(tenant, 'user', 'sandbox');
    const url = '/api/organization_applications';
    assertError(
      await app.call({ method: 'POST', url, token: sandbox, payload }),
      403,
      'invalid_scopes',
      MESSAGE,
    );
    const remove = { method: 'DELETE', url: `${url}/${clientId}` } as const;
    assertError(await app.call({ ...remove, token: sandbox }), 403, 'invalid_scopes', MESSAGE);

    const production = await tokenFor(tenant, 'user', 'production');
    assert.equal((await app.call({ method: 'POST', url, token: production, payload })).status, 201);
    assert.equal((await edit(production, clientId)).status, 200);
    assert.equal((await edit(await tokenFor(tenant, 'organization', 'production'), clientId)).status, 200);
    assert.equal((await app.call({ ...remove, token: production })).status, 204);
  });

test('a sandbox token can still change sandbox bank keys', async () => {
  const tenant = await createTenant(app, { ipAllowlist: ['8.8.8.8'] });
  await openProductionBank(tenant);
  const { clientId } = await createKey(app, `/banks/${tenant.bankGuid}/applications`, { name: 'Key' });
  const url = `/api/bank_applications/${clientId}`;
  const token = await tokenFor(tenant, 'user', 'sandbox');
  assert.equal((await app.call({ method: 'PATCH', url, token, payload })).status, 200);
  assert.equal((await app.call({ method: 'DELETE', url, token })).status, 204);
});

test('a range wider than /16 is refused, an existing one stays', async () => {
  const tenant = await createTenant(app);
  const token = await issueToken(app, { ...tenant, customerGuid: '' }, 'user');
  const { clientId } = tenant.organizationKey;
  const refused = await edit(token, clientId, { ip_allowlist: ['8.0.0.0/8'] });
  const message = 'ip_allowlist[0] "8.0.0.0/8" is wider than /16, the widest range that is accepted';
  assertError(refused, 422, 'invalid_ip_allowlist', message);
  assert.equal((await edit(token, clientId, { ip_allowlist: ['8.8.0.0/16'] })).status, 200);

  const stored = app.database.queries.updateTable('applications').set({ ip_allowlist: ['8.0.0.0/8'] });
  await stored.where('client_id', '=', clientId).execute();
  const kept = await edit(token, clientId, { name: 'Renamed', ip_allowlist: ['8.0.0.0/8'] });
  assert.deepEqual([kept.status, kept.body.name, kept.body.ip_allowlist], [200, 'Renamed', ['8.0.0.0/8']]);
});

test('PORTICO_ALLOWLIST_MIN_PREFIX sets the widest range', async () => {
  const strict = await createTestApp({ environment: { PORTICO_ALLOWLIST_MIN_PREFIX: '24' } });
  const tenant = await createTenant(strict);
  const url = `/api/organization_applications/${tenant.organizationKey.clientId}`;
  const token = await issueToken(strict, { ...tenant, customerGuid: '' }, 'user');
  const change = (entry: string) =>
    strict.call({ method: 'PATCH', url, token, payload: { ip_allowlist: [entry] } });
  assertError(await change('8.8.8.0/23'), 422, 'invalid_ip_allowlist', /is wider than \/24/);
  assert.equal((await change('8.8.8.0/24')).status, 200);
});
