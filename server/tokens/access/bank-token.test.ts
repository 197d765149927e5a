import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, everyScope, tokenOf } from '../../../testing/app/tenant.ts';

/** bank_guid in requests with a bank token is ignored (specification, Authentication 3). */
const app = await createTestApp();
const tenant = await createTenant(app);
const token = await tokenOf(app, tenant.bankKey, everyScope('bank'));
const VALUES = ['0'.repeat(32), 'garbage', '', 'x'.repeat(500)];

test('bank_guid in the query string is ignored for a bank token', async () => {
  const paths = [
    '/api/customers',
    '/api/bank_applications',
    `/api/bank_applications/${tenant.bankKey.clientId}`,
  ];
  for (const path of paths)
    for (const value of VALUES) {
      const url = `${path}?bank_guid=${encodeURIComponent(value)}`;
      const answer = await app.call({ url, token });
      assert.equal(answer.status, 200, `${url} ${JSON.stringify(answer.body)}`);
    }
});

test('bank_guid in the body is ignored for a bank token', async () => {
  for (const bank_guid of [...VALUES, 1, null, {}, []]) {
    const payload = { type: 'individual', bank_guid };
    const { status, body } = await app.call({ method: 'POST', url: '/api/customers', token, payload });
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal(body.bank_guid, tenant.bankGuid);
  }
});

test('bank_guid is evaluated for an Organization token', async () => {
  const organizationToken = await tokenOf(app, tenant.organizationKey, everyScope('organization'));
  const url = '/api/customers?bank_guid=garbage';
  assertError(await app.call({ url, token: organizationToken }), 400, 'invalid_parameter', /^bank_guid /);
});
