import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../../testing/app.ts';
import { createTenant, everyScope, tokenOf } from '../../../testing/tenant.ts';

/** A bank token has its bank; the bank_guid of a request is ignored, not an error (specification, Authentication 3). */
const app = await createTestApp();
const tenant = await createTenant(app);
const token = await tokenOf(app, tenant.bankKey, everyScope('bank'));
const VALUES = ['0'.repeat(32), 'garbage', '', 'x'.repeat(500)];

test('in a query string, whatever it says', async () => {
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

test('in a body, whatever it says', async () => {
  for (const bank_guid of [...VALUES, 1, null, {}, []]) {
    const payload = { type: 'individual', bank_guid };
    const { status, body } = await app.call({ method: 'POST', url: '/api/customers', token, payload });
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal(body.bank_guid, tenant.bankGuid);
  }
});

test('of an Organization token it is a parameter like any other', async () => {
  const organizationToken = await tokenOf(app, tenant.organizationKey, everyScope('organization'));
  const url = '/api/customers?bank_guid=garbage';
  assertError(await app.call({ url, token: organizationToken }), 400, 'invalid_parameter', /^bank_guid /);
});
