import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf } from '../../testing/api/answers.ts';
import { type Callers, createCallers, issueToken } from '../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createTenant } from '../../testing/app/tenant.ts';
import { createCustomer, nextGuid } from '../../testing/objects/customers.ts';
import { report as put, reportObject, reportOf, typeOf } from '../../testing/objects/objects.ts';
import { joinTeam } from '../../testing/people/dashboard.ts';
import { eventTypesOf } from '../../testing/webhooks/subscriptions.ts';
import { OBJECT_TYPES } from './types.ts';

/** PUT /operator/objects/{type}/{guid} (contract, section 10); customers are in `server/operator/objects.test.ts`. */
const app = await createTestApp();
const owner = await createCallers(app);
const live = await createLive();
const transfer = typeOf('transfer');
const ABSENT = '0'.repeat(32);

async function createLive(): Promise<Callers> {
  const tenant = await createTenant(app, { environment: 'production' });
  const { memberGuid } = await joinTeam(app, tenant.organizationGuid);
  return { ...tenant, memberGuid, customerGuid: await createCustomer(app, tenant.bankGuid) };
}

const reportTransfer = (guid: string, fields: object = {}) =>
  put(app, transfer, guid, reportOf(transfer, owner, fields));

for (const type of OBJECT_TYPES)
  test(`${type.name}: a reported object is readable for its tenant, in both environments`, async () => {
    for (const [of, environment] of [
      [owner, 'sandbox'],
      [live, 'production'],
    ] as const) {
      const guid = nextGuid(app);
      const report = reportOf(type, of, { labels: ['a label'] }) as { details: object; state?: string };
      const { status, body } = await put(app, type, guid, report);
      assert.equal(status, 200, JSON.stringify(body));
      const now = app.clock.now().toISOString();
      assert.deepEqual(body, {
        ...{ guid, organization_guid: of.organizationGuid, bank_guid: of.bankGuid, environment },
        ...(type.customer !== 'itself' && { customer_guid: of.customerGuid }),
        ...(type.machine && { state: report.state ?? 'funded' }),
        ...report.details,
        ...{ labels: ['a label'], created_at: now, updated_at: now },
      });
      const token = await issueToken(app, of, 'bank', { environment });
      const shown = await app.call({ url: `/api/${type.plural}/${guid}`, token });
      assert.deepEqual([shown.status, shown.body], [200, body]);
    }
  });

test('the first report may have any state, and emits its event', async () => {
  for (const state of ['storing', 'holding', 'completed']) {
    const guid = await reportObject(app, 'transfer', owner, { state });
    assert.deepEqual(await eventTypesOf(app, guid), [`transfer.${state}`]);
  }
});

test('the first report needs details, which the fields of the object promise; later ones do not', async () => {
  for (const type of OBJECT_TYPES) {
    const { details: _, ...report } = reportOf(type, owner) as { details: object };
    const guid = nextGuid(app);
    const message = 'details is required in the first report of an object';
    assertError(await put(app, type, guid, report), 400, 'missing_parameter', message);
    await put(app, type, guid, reportOf(type, owner));
    assert.equal((await put(app, type, guid, report)).status, 200, type.name);
  }
});

test('a changed state emits an event with the Organization and environment of the bank', async () => {
  const guid = await reportObject(app, 'transfer', live);
  app.clock.advance(1_000);
  const report = reportOf(transfer, live, { state: 'reviewing' });
  const { body } = await put(app, transfer, guid, report);
  assert.deepEqual([body.state, body.updated_at], ['reviewing', app.clock.now().toISOString()]);
  const events = await app.database.queries
    .selectFrom('events')
    .selectAll()
    .where('object_guid', '=', guid)
    .orderBy('guid')
    .execute();
  assert.deepEqual(
    events.map((event) => [event.event_type, event.organization_guid, event.bank_guid, event.environment]),
    ['storing', 'reviewing'].map((state) => [
      ...[`transfer.${state}`, live.organizationGuid, live.bankGuid, 'production'],
    ]),
  );
});

test('a repeated report changes nothing and emits nothing', async () => {
  const guid = nextGuid(app);
  const first = await reportTransfer(guid, { labels: ['x'] });
  const records = await auditRecordsOf(app, guid);
  app.clock.advance(1_000);
  for (const fields of [{ labels: ['x'] }, {}, { details: undefined }]) {
    const { status, body } = await reportTransfer(guid, fields);
    assert.deepEqual([status, body], [200, first.body]);
  }
  assert.deepEqual(await eventTypesOf(app, guid), ['transfer.storing']);
  assert.deepEqual(await auditRecordsOf(app, guid), records, 'no change, no record');
});

test('details and labels change without an event, and are kept when omitted', async () => {
  const guid = nextGuid(app);
  const { body: first } = await reportTransfer(guid, { labels: ['x', 'y'] });
  app.clock.advance(1_000);
  const details = { transfer_type: 'book', asset: 'EUR', amount: 7 };
  const { body } = await reportTransfer(guid, { details, labels: [] });
  const { labels: _, ...unlabelled } = first;
  assert.deepEqual(body, { ...unlabelled, ...details, updated_at: app.clock.now().toISOString() });
  const { body: moved } = await reportTransfer(guid, { details: undefined, state: 'pending' });
  assert.deepEqual(moved, { ...body, state: 'pending' });
  assert.deepEqual(await eventTypesOf(app, guid), ['transfer.storing', 'transfer.pending']);
});

test('a transition that is not allowed is refused with both states, and changes nothing', async () => {
  const guid = await reportObject(app, 'transfer', owner, { state: 'completed' });
  const token = await issueToken(app, owner, 'bank');
  const show = () => app.call({ url: `/api/transfers/${guid}`, token });
  const { body: before } = await show();
  app.clock.advance(1_000);
  for (const state of ['storing', 'pending', 'holding', 'reviewing', 'failed'])
    assertError(
      await reportTransfer(guid, { state, labels: ['new'] }),
      409,
      'state_conflict',
      `The transfer is completed, and cannot become ${state}`,
    );
  assert.deepEqual((await show()).body, before);
  assert.deepEqual(await eventTypesOf(app, guid), ['transfer.completed']);
  assert.equal((await auditRecordsOf(app, guid)).length, 1);
});

test('concurrent first reports create one object, one event and one audit record', async () => {
  const guid = nextGuid(app);
  const answers = await Promise.all(Array.from({ length: 8 }, () => reportTransfer(guid)));
  for (const { status, body } of answers) assert.deepEqual([status, body], [200, answers[0]?.body]);
  assert.deepEqual(await eventTypesOf(app, guid), ['transfer.storing']);
  assert.equal((await auditRecordsOf(app, guid)).length, 1);
});

test('of two endings reported at once one is applied and the other refused', async () => {
  for (let round = 0; round < 10; round++) {
    const guid = await reportObject(app, 'transfer', owner, { state: 'reviewing' });
    const answers = await Promise.all(
      ['completed', 'failed'].map((state) => reportTransfer(guid, { state })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
    const won = answers.find(({ status }) => status === 200)?.body.state;
    assert.deepEqual(await eventTypesOf(app, guid), ['transfer.reviewing', `transfer.${won}`]);
  }
});

test('the bank, the customer and the type of an object cannot change', async () => {
  const guid = await reportObject(app, 'transfer', owner);
  assertError(
    await put(app, transfer, guid, reportOf(transfer, live)),
    422,
    'no_bank',
    'bank_guid must be the bank of this transfer; it cannot change',
  );
  const customer_guid = await createCustomer(app, owner.bankGuid);
  assertError(
    await reportTransfer(guid, { customer_guid }),
    422,
    'no_customer',
    'customer_guid must be the customer of this transfer; it cannot change',
  );
  const trade = typeOf('trade');
  assertError(await put(app, trade, guid, reportOf(trade, owner)), 409, 'object_conflict');
  assert.deepEqual(await eventTypesOf(app, guid), ['transfer.storing']);
});

test('an object of the bank gets its customer by a later report, and keeps it', async () => {
  const guid = await reportObject(app, 'transfer', owner, { customer_guid: undefined });
  const { body } = await reportTransfer(guid);
  assert.equal(body.customer_guid, owner.customerGuid);
  assert.equal(
    (await reportTransfer(guid, { customer_guid: undefined })).body.customer_guid,
    owner.customerGuid,
  );
});

test('invalid input is refused with the name of its field', async () => {
  const guid = nextGuid(app);
  const refused = async (fields: object, status: number, code: string, message: RegExp) =>
    assertError(await reportTransfer(guid, fields), status, code, message);
  await refused({ bank_guid: ABSENT }, 422, 'no_bank', /^bank_guid /);
  for (const customer_guid of [ABSENT, live.customerGuid])
    await refused({ customer_guid }, 422, 'no_customer', /^customer_guid /);
  await refused({ details: undefined }, 400, 'missing_parameter', /^details /);
  await refused({ details: {} }, 400, 'missing_parameter', /^details\.transfer_type /);
  await refused({ state: undefined }, 400, 'missing_parameter', /^state /);
  await refused({ state: 'cancelled' }, 400, 'invalid_parameter', /^state must be one of storing, /);
  await refused({ labels: ['x', 'x'] }, 400, 'invalid_parameter', /^labels /);
  await refused({ simulate: 'failed' }, 400, 'invalid_parameter', /^simulate /);
  const details = { transfer_type: 'book', asset: 'USD', amount: 1 };
  for (const [name, value] of [
    ['amount', 1.5],
    ['amount', 0],
    ['amount', 2 ** 53],
    ['amount', '01'],
    ['asset', 'usd'],
    ['colour', 'red'],
  ])
    await refused(
      { details: { ...details, [name as string]: value } },
      400,
      'invalid_parameter',
      /^details\./,
    );
  assertError(await app.operate('PUT', `/objects/unheard_of/${guid}`, {}), 404, 'not_found');
  assertError(await app.operate('PUT', `/objects/transfers/${guid}`, {}), 404, 'not_found');
  assert.deepEqual(await auditRecordsOf(app, guid), []);
});

test('both forms of an amount are one amount, and large ones are exact', async () => {
  const guid = nextGuid(app);
  const details = { transfer_type: 'book', asset: 'USD', amount: 7 };
  const { body } = await reportTransfer(guid, { details });
  app.clock.advance(1_000);
  const again = await reportTransfer(guid, { details: { ...details, amount: '7' } });
  assert.deepEqual(again.body, body, 'nothing changed');
  const amount = '123456789012345678901234567890';
  assert.equal((await reportTransfer(guid, { details: { ...details, amount } })).body.amount, amount);
});

test('a report of a customer or an account has no state', async () => {
  for (const name of ['customer', 'account']) {
    const type = typeOf(name);
    const answer = await put(app, type, nextGuid(app), reportOf(type, owner, { state: 'storing' }));
    assertError(answer, 400, 'invalid_parameter', /^state /);
  }
});

test('the audit record of a report has no names and no amounts', async () => {
  const guid = nextGuid(app);
  await reportTransfer(guid);
  const [record] = await auditRecordsOf(app, guid);
  assert.deepEqual(
    [record?.action, record?.actor_type, record?.object_type, record?.organization_guid],
    ['transfer.report', 'operator', 'transfer', owner.organizationGuid],
  );
  assert.deepEqual(record?.changes, {
    bank_guid: owner.bankGuid,
    customer_guid: owner.customerGuid,
    state: 'storing',
  });
});
