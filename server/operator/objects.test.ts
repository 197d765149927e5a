import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf } from '../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createTenant, PRODUCTION_HOST, tokenOf } from '../../testing/app/tenant.ts';
import { nextGuid } from '../../testing/objects/customers.ts';

/** PUT /operator/objects/customer/{guid}: reports of customers by the platform's core (contract, section 10). */
const app = await createTestApp();
const tenant = await createTenant(app);
const live = await createTenant(app, { environment: 'production' });
const ABSENT = '0'.repeat(32);

const report = (guid: string, payload: object) => app.operate('PUT', `/objects/customer/${guid}`, payload);
const inputOf = (bank_guid: string, details: object = { type: 'business', name: 'Ada' }) => ({
  bank_guid,
  details,
});

test('a reported customer is readable for its tenant, in both environments', async () => {
  for (const [{ organizationGuid, bankGuid, bankKey }, environment, host] of [
    [tenant, 'sandbox', 'localhost:4000'],
    [live, 'production', PRODUCTION_HOST],
  ] as const) {
    const guid = nextGuid(app);
    const { status, body } = await report(guid, inputOf(bankGuid));
    const now = app.clock.now().toISOString();
    assert.equal(status, 200);
    assert.deepEqual(body, {
      ...{ guid, organization_guid: organizationGuid, bank_guid: bankGuid, environment },
      ...{ type: 'business', name: { full: 'Ada' }, created_at: now, updated_at: now },
    });
    const token = await tokenOf(app, bankKey, 'customers:read', { host });
    assert.deepEqual((await app.call({ url: `/api/customers/${guid}`, token })).body, body);
  }
});

test('a repeated report changes nothing', async () => {
  const guid = nextGuid(app);
  for (const details of [{ type: 'business', name: 'Ada' }, { type: 'business' }]) {
    const { body: first } = await report(guid, inputOf(tenant.bankGuid, details));
    const records = await auditRecordsOf(app, guid);
    app.clock.advance(1_000);
    const { status, body } = await report(guid, inputOf(tenant.bankGuid, details));
    assert.deepEqual([status, body], [200, first]);
    assert.deepEqual(await auditRecordsOf(app, guid), records, 'no change, no record');
  }
});

test('another report changes the customer and keeps its creation time', async () => {
  const guid = nextGuid(app);
  const { body: first } = await report(guid, inputOf(tenant.bankGuid));
  app.clock.advance(1_000);
  const { body } = await report(guid, inputOf(tenant.bankGuid, { type: 'individual' }));
  const { name: _, ...rest } = first;
  assert.deepEqual(body, { ...rest, type: 'individual', updated_at: app.clock.now().toISOString() });
  const records = await auditRecordsOf(app, guid, 'customer.report');
  assert.deepEqual(
    records.map(({ actor_type, changes }) => [actor_type, changes]),
    [
      ['operator', { bank_guid: tenant.bankGuid, type: 'individual' }],
      ['operator', { bank_guid: tenant.bankGuid, type: 'business' }],
    ],
  );
});

test('a name can be changed, removed and added again', async () => {
  const guid = nextGuid(app);
  for (const name of ['Ada', undefined, 'Ada', 'Grace']) {
    const details = { type: 'business', ...(name !== undefined && { name }) };
    const { body } = await report(guid, inputOf(tenant.bankGuid, details));
    assert.deepEqual([body.name, 'name' in body], [name && { full: name }, name !== undefined]);
  }
  assert.equal((await auditRecordsOf(app, guid)).length, 4);
});

test('concurrent reports create one customer and one audit record', async () => {
  const guid = nextGuid(app);
  const answers = await Promise.all(Array.from({ length: 8 }, () => report(guid, inputOf(tenant.bankGuid))));
  for (const { status, body } of answers) assert.deepEqual([status, body], [200, answers[0]?.body]);
  assert.equal((await auditRecordsOf(app, guid)).length, 1);
});

test('a report cannot move a customer to another bank or tenant', async () => {
  const guid = nextGuid(app);
  const { body: first } = await report(guid, inputOf(tenant.bankGuid));
  app.clock.advance(1_000);
  for (const details of [{ type: 'business', name: 'Ada' }, { type: 'individual' }])
    assertError(await report(guid, inputOf(live.bankGuid, details)), 422, 'no_bank', /^bank_guid /);
  const token = await tokenOf(app, tenant.bankKey, 'customers:read');
  assert.deepEqual((await app.call({ url: `/api/customers/${guid}`, token })).body, first);
  assert.equal((await auditRecordsOf(app, guid)).length, 1);
});

test('an unknown bank is refused', async () => {
  assertError(await report(nextGuid(app), inputOf(ABSENT)), 422, 'no_bank', /^bank_guid /);
});

test('invalid input is refused with the name of its field', async () => {
  const guid = nextGuid(app);
  const send = (details: unknown) => report(guid, { bank_guid: tenant.bankGuid, details });
  assertError(await report(guid, { details: { type: 'business' } }), 400, 'missing_parameter', /^bank_guid /);
  assertError(await report(guid, { bank_guid: tenant.bankGuid }), 400, 'missing_parameter', /^details /);
  assertError(await send({}), 400, 'missing_parameter', /^details\.type /);
  assertError(await send({ type: 'person' }), 400, 'invalid_parameter', /^details\.type /);
  assertError(await send({ type: 'business', name: 7 }), 400, 'invalid_parameter', /^details\.name /);
  assertError(await send({ type: 'business', age: 1 }), 400, 'invalid_parameter', /^details\.age /);
  for (const name of ['x', guid.toUpperCase(), guid.slice(1)])
    assertError(await report(name, inputOf(tenant.bankGuid)), 404, 'not_found');
  assert.deepEqual(await auditRecordsOf(app, guid), []);
});
