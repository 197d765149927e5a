import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant, type Tenant, userToken } from '../../../../testing/app/tenant.ts';

/** PORTICO_ALLOWLIST_POLICY=optional (contract, section 6). The other files test `required`. */
const app = await createTestApp({ environment: { PORTICO_ALLOWLIST_POLICY: 'optional' } });

const inputsOf = ({ bankGuid }: Tenant) => ({
  '/api/organization_applications': { name: 'Key' },
  '/api/bank_applications': { name: 'Key', bank_guid: bankGuid },
});

test('an Organization that is not live may create keys with an empty list', async () => {
  const tenant = await createTenant(app);
  const token = await userToken(app, tenant.organizationGuid);
  for (const [url, input] of Object.entries(inputsOf(tenant)))
    for (const payload of [input, { ...input, ip_allowlist: [] }]) {
      const { status, body } = await app.call({ method: 'POST', url, token, payload });
      assert.deepEqual([status, body.ip_allowlist], [201, []]);
    }
});

test('a live Organization may not, under either policy', async () => {
  const tenant = await createTenant(app, { ipAllowlist: ['198.35.26.96'] });
  await app.operate('PATCH', `/organizations/${tenant.organizationGuid}`, { live: true });
  const token = await userToken(app, tenant.organizationGuid);
  for (const [url, input] of Object.entries(inputsOf(tenant))) {
    for (const payload of [input, { ...input, ip_allowlist: [] }])
      assertError(await app.call({ method: 'POST', url, token, payload }), 422, 'ip_allowlist_required');
    const payload = { ...input, ip_allowlist: ['193.0.6.139'] };
    assert.equal((await app.call({ method: 'POST', url, token, payload })).status, 201);
  }
});

test('the other list rules apply under this policy too', async () => {
  const tenant = await createTenant(app);
  const token = await userToken(app, tenant.organizationGuid);
  for (const [url, input] of Object.entries(inputsOf(tenant))) {
    const payload = { ...input, ip_allowlist: ['10.0.0.1'] };
    assertError(await app.call({ method: 'POST', url, token, payload }), 422, 'invalid_ip_allowlist');
  }
});
