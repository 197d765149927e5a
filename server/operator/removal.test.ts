import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createTenant, tokenOf } from '../../testing/app/tenant.ts';

const app = await createTestApp();

test('the operator removes any key pair, and its tokens are revoked at once', async () => {
  const { bankKey, organizationKey } = await createTenant(app);
  const token = await tokenOf(app, bankKey, 'customers:read');
  const other = await tokenOf(app, organizationKey, 'customers:read');
  const list = (bearer: string) => app.call({ method: 'GET', url: '/api/customers', token: bearer });
  assert.equal((await list(token)).status, 200);

  assert.equal((await app.operate('DELETE', `/applications/${bankKey.clientId}`)).status, 204);

  assertError(await list(token), 401, 'authentication_failed');
  assert.equal((await list(other)).status, 200);
  assertError(await app.operate('DELETE', `/applications/${bankKey.clientId}`), 404, 'not_found');
  const records = await app.operate(
    'GET',
    `/audit_records?actor=operator&object_id=${bankKey.clientId}&action=bank_application.remove`,
  );
  assert.equal(records.body.total, 1);
});

test('an unknown query parameter is refused', async () => {
  const { organizationGuid } = await createTenant(app);
  const answer = await app.operate('GET', `/organizations/${organizationGuid}?verbose=true`);
  assertError(answer, 400, 'invalid_parameter', /verbose/);
});
