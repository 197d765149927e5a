import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { createTestApp } from '../../../../../testing/app/app.ts';
import { createTenant, userToken } from '../../../../../testing/app/tenant.ts';
import { createCustomer, nextGuid } from '../../../../../testing/objects/customers.ts';
import { compileNullRemoval } from './nulls.ts';

/** That each route treats `null` as absent is in `bad-body.test.ts`. */
const Inner = Type.Object({
  a: Type.Optional(Type.String()),
  free: Type.Record(Type.String(), Type.Unknown()),
});
const remove = compileNullRemoval(
  Type.Object({ ...Inner.properties, inner: Inner, list: Type.Array(Inner) }),
);

test('nulls of known fields are removed at every depth, and nothing else changes', () => {
  const body = {
    a: null,
    unknown: null,
    free: { kept: null },
    inner: { a: null, free: null, unknown: null },
    list: [{ a: null }, null, 1, [null], { a: 'x' }],
  };
  remove?.(body);
  assert.deepEqual(body, {
    unknown: null,
    free: { kept: null },
    inner: { unknown: null },
    list: [{}, null, 1, [null], { a: 'x' }],
  });
});

test('null stays where the schema accepts it, and is removed within each form of a field', () => {
  const forms = Type.Union([Type.String(), Inner]);
  const removeFrom = compileNullRemoval(
    Type.Object({ removable: Type.Union([forms, Type.Null()]), other: forms, text: Type.String() }),
  );
  const body = { removable: null, other: { a: null, free: {} }, text: null };
  removeFrom?.(body);
  assert.deepEqual(body, { removable: null, other: { free: {} } });
  const within = { removable: { a: null, free: {} }, other: null };
  removeFrom?.(within);
  assert.deepEqual(within, { removable: { free: {} } });
});

test('values that are not objects are left unchanged', () => {
  for (const value of [null, undefined, 1, 'x', [], [null]]) assert.equal(remove?.(value), undefined);
  assert.equal(compileNullRemoval(Type.Object({})), undefined);
  assert.equal(compileNullRemoval(Type.Array(Type.String())), undefined);
});

test('null leaves a field of a PATCH unchanged and counts as absent in the details of a report', async () => {
  const app = await createTestApp();
  const tenant = await createTenant(app, { ipAllowlist: ['8.8.8.8'] });
  const token = await userToken(app, tenant.organizationGuid);
  const url = `/api/bank_applications/${tenant.bankKey.clientId}`;
  const { body: before } = await app.call({ url, token });
  const payload = { name: null, ip_allowlist: null, scopes: null };
  const { status, body } = await app.call({ method: 'PATCH', url, token, payload });
  assert.deepEqual([status, body], [200, before]);

  const guid = await createCustomer(app, tenant.bankGuid);
  const report = { bank_guid: tenant.bankGuid, labels: null, details: { type: 'individual', name: null } };
  const reported = await app.operate('PUT', `/objects/customer/${guid}`, report);
  assert.deepEqual([reported.status, 'name' in reported.body], [200, false]);
  const missing = { bank_guid: tenant.bankGuid, details: { type: null } };
  const refused = await app.operate('PUT', `/objects/customer/${nextGuid(app)}`, missing);
  assert.deepEqual([refused.status, refused.body.message], [400, 'details.type is required']);
});
