import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../../testing/app/app.ts';

const app = await createTestApp();
const ABSENT = '0'.repeat(32);

async function createOrganization(input: object = { name: 'Acme' }): Promise<string> {
  const { body } = await app.operate('POST', '/organizations', input);
  return String(body.guid);
}

test('an organization starts with the webhooks feature and is not live', async () => {
  const { status, body } = await app.operate('POST', '/organizations', { name: 'Acme' });
  assert.equal(status, 201);
  const { guid, created_at, updated_at, ...rest } = body;
  assert.match(String(guid), /^[0-9a-f]{32}$/);
  assert.equal(created_at, app.clock.now().toISOString());
  assert.equal(updated_at, created_at);
  const optional = { second_factor_roles: [], second_factor_in_production: false };
  assert.deepEqual(rest, { name: 'Acme', live: false, features: ['webhooks'], ...optional });
});

test('the operator sets live and features, and each change sets updated_at', async () => {
  const guid = await createOrganization();
  app.clock.advance(1_000);
  const changes = { name: 'Acme Ltd', live: true, features: ['webhooks', 'files'] };
  const { status, body } = await app.operate('PATCH', `/organizations/${guid}`, changes);
  assert.equal(status, 200);
  assert.deepEqual({ name: body.name, live: body.live, features: body.features }, changes);
  assert.equal(body.updated_at, app.clock.now().toISOString());
  const again = await app.operate('GET', `/organizations/${guid}`);
  assert.deepEqual(again.body, body);
});

test('an omitted field is not changed', async () => {
  const guid = await createOrganization({ name: 'Kept', features: ['files'] });
  const { body } = await app.operate('PATCH', `/organizations/${guid}`, { live: true });
  assert.deepEqual([body.name, body.live, body.features], ['Kept', true, ['files']]);
});

test('an update without changes is not recorded', async () => {
  const organization = await createOrganization();
  const created = await app.operate('POST', `/organizations/${organization}/banks`, {
    name: 'Still',
    environment: 'sandbox',
  });
  app.clock.advance(1_000);
  const bank = await app.operate('PATCH', `/banks/${created.body.guid}`, {});
  assert.deepEqual([bank.status, bank.body], [200, created.body]);
  assert.equal((await app.operate('PATCH', `/organizations/${organization}`, {})).status, 200);
  const records = await app.operate('GET', `/audit_records?organization_guid=${organization}`);
  assert.equal(records.body.total, 2, 'only the two creations are recorded');
});

test('a bank belongs to one environment and emits events for its creation and changes', async () => {
  const organization = await createOrganization();
  const created = await app.operate('POST', `/organizations/${organization}/banks`, {
    name: 'First Bank',
    environment: 'sandbox',
  });
  assert.equal(created.status, 201);
  assert.equal(created.body.organization_guid, organization);
  assert.equal(created.body.environment, 'sandbox');
  const bank = String(created.body.guid);
  const renamed = await app.operate('PATCH', `/banks/${bank}`, { name: 'Second Bank' });
  assert.equal(renamed.body.name, 'Second Bank');

  const events = await app.database.queries
    .selectFrom('events')
    .selectAll()
    .where('organization_guid', '=', organization)
    .orderBy('guid')
    .execute();
  assert.deepEqual(
    events.map((event) => [event.event_type, event.bank_guid, event.object_guid, event.environment]),
    [
      ['bank.created', bank, bank, 'sandbox'],
      ['bank.updated', bank, bank, 'sandbox'],
    ],
  );
});

test('a refused change leaves neither an event nor an audit record', async () => {
  const count = async () => {
    const events = await app.database.queries.selectFrom('events').selectAll().execute();
    const records = await app.database.queries.selectFrom('audit_records').selectAll().execute();
    return [events.length, records.length];
  };
  const before = await count();
  const banks = `/organizations/${ABSENT}/banks`;
  assertError(await app.operate('POST', banks, { name: 'x', environment: 'sandbox' }), 404, 'not_found');
  assertError(await app.operate('PATCH', `/banks/${ABSENT}`, { name: 'x' }), 404, 'not_found');
  assertError(await app.operate('PATCH', `/organizations/${ABSENT}`, { live: true }), 404, 'not_found');
  assert.deepEqual(await count(), before);
});

test('banks are listed per organization, newest first, by environment', async () => {
  const organization = await createOrganization();
  const other = await createOrganization();
  for (const [owner, name, environment] of [
    [organization, 'A', 'sandbox'],
    [organization, 'B', 'production'],
    [organization, 'C', 'sandbox'],
    [other, 'D', 'sandbox'],
  ] as const)
    await app.operate('POST', `/organizations/${owner}/banks`, { name, environment });
  const names = async (query: string) => {
    const { body } = await app.operate('GET', `/organizations/${organization}/banks${query}`);
    return (body.objects as { name: string }[]).map((bank) => bank.name);
  };
  assert.deepEqual(await names(''), ['C', 'B', 'A']);
  assert.deepEqual(await names('?environment=sandbox'), ['C', 'A']);
  assertError(await app.operate('GET', `/organizations/${ABSENT}/banks`), 404, 'not_found');
});
