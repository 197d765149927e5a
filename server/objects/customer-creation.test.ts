import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, soleRecord } from '../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createKey, createTenant, PRODUCTION_HOST, tokenOf, userToken } from '../../testing/app/tenant.ts';

/** POST /api/customers (specification, Authentication 3; contract, sections 9 and 11). */
const app = await createTestApp();
const tenant = await createTenant(app);
const other = await createTenant(app);
const live = await createTenant(app, { environment: 'production' });
const ABSENT = '0'.repeat(32);
const SCOPE = 'customers:execute customers:read';

const tokens = {
  organization: await tokenOf(app, tenant.organizationKey, SCOPE),
  bank: await tokenOf(app, tenant.bankKey, SCOPE),
  user: await userToken(app, tenant.organizationGuid, 'developer'),
};
const create = (token: string, payload: object) =>
  app.call({ method: 'POST', url: '/api/customers', token, payload });
const customers = async () =>
  (await app.call({ url: '/api/customers', token: await userToken(app, tenant.organizationGuid) })).body
    .total;

test('every token that may create a customer gets it as stored', async () => {
  const { organizationGuid: organization_guid, bankGuid: bank_guid } = tenant;
  for (const [holder, token] of Object.entries(tokens)) {
    const input = { type: 'business', name: 'Ada & Söhne 株式会社', ...(holder !== 'bank' && { bank_guid }) };
    const { status, body } = await create(token, input);
    assert.equal(status, 201, JSON.stringify(body));
    const { guid, created_at, updated_at, ...rest } = body;
    assert.match(String(guid), /^[0-9a-f]{32}$/);
    assert.deepEqual([created_at, updated_at], Array(2).fill(app.clock.now().toISOString()));
    const { type, name: full } = input;
    const name = { full };
    assert.deepEqual(rest, { organization_guid, bank_guid, environment: 'sandbox', type, name });
    assert.deepEqual((await app.call({ url: `/api/customers/${guid}`, token })).body, body);
  }
});

test('an absent name is omitted, never null', async () => {
  const { body } = await create(tokens.bank, { type: 'individual' });
  assert.ok(!('name' in body));
  const { body: got } = await app.call({ url: `/api/customers/${body.guid}`, token: tokens.bank });
  assert.ok(!('name' in got));
});

test('a bank token determines the bank; the bank_guid of the request is ignored', async () => {
  const path = `/organizations/${tenant.organizationGuid}/banks`;
  const { body: second } = await app.operate('POST', path, { name: 'Second', environment: 'sandbox' });
  for (const bank_guid of [second.guid, other.bankGuid, live.bankGuid, ABSENT, tenant.bankGuid]) {
    const { status, body } = await create(tokens.bank, { type: 'individual', bank_guid });
    assert.deepEqual([status, body.bank_guid], [201, tenant.bankGuid]);
    assert.equal(body.organization_guid, tenant.organizationGuid);
  }
});

test('Organization and user tokens must name the bank', async () => {
  for (const holder of ['organization', 'user'] as const)
    assertError(
      await create(tokens[holder], { type: 'individual' }),
      400,
      'missing_parameter',
      'bank_guid is required',
    );
});

test('an unknown bank, or one of another tenant or environment, is refused', async () => {
  const path = `/organizations/${tenant.organizationGuid}/banks`;
  const { body } = await app.operate('POST', path, { name: 'Live', environment: 'production' });
  const before = await customers();
  for (const bank_guid of [ABSENT, other.bankGuid, String(body.guid)]) {
    const answer = await create(tokens.organization, { type: 'individual', bank_guid });
    assertError(answer, 422, 'no_bank', /^bank_guid /);
  }
  for (const bank_guid of [ABSENT, other.bankGuid])
    assertError(await create(tokens.user, { type: 'individual', bank_guid }), 422, 'no_bank');
  assert.equal(await customers(), before);
});

test('customers are created in sandbox only', async () => {
  const host = { host: PRODUCTION_HOST };
  const input = { type: 'individual', bank_guid: live.bankGuid };
  for (const token of [
    await tokenOf(app, live.organizationKey, SCOPE, host),
    await tokenOf(app, live.bankKey, SCOPE, host),
    await userToken(app, live.organizationGuid),
  ])
    assertError(await create(token, input), 422, 'not_implemented');
  const { body } = await app.call({
    url: '/api/customers',
    token: await userToken(app, live.organizationGuid),
  });
  assert.equal(body.total, 0);
});

const ADDRESS = { street: '12 St James Square', city: 'London', country_code: 'GB' };
const NO_STREET = { city: 'London', country_code: 'GB' };
const WRONG: Record<string, unknown[]> = {
  name: [
    ...['', '  ', 'x'.repeat(129), 1, {}, [], { full: '' }, { full: 'x'.repeat(129) }, { first: 'Ada' }],
    ...[{ last: 'Lovelace' }, { middle: 'King' }, { full: 'Ada', first: 'Ada', last: 'Lovelace' }],
    ...[{ full: 'Ada', middle: 'King' }, { first: 'x'.repeat(65), last: 'y' }, { nick: 'Ada' }],
  ],
  address: [
    ...['London', [], NO_STREET, { ...ADDRESS, country_code: 'gb' }, { ...ADDRESS, country_code: 'GBR' }],
    ...[
      { ...ADDRESS, street: ' ' },
      { ...ADDRESS, postal_code: 'x'.repeat(17) },
      { ...ADDRESS, planet: 'x' },
    ],
  ],
  email: ['', 'ada', 'ada@', `${'x'.repeat(250)}@x.de`, 1],
  phone: ['', '4155550100', '+0155550100', '+1', '+1234567890123456', '+1 415 555 0100', 1],
};

test('a name has two forms, and the optional fields are returned as given', async () => {
  const contact = { address: ADDRESS, email: 'ada@example.com', phone: '+442071234567' };
  const parts = { first: 'Ada', middle: 'King', last: 'Lovelace' };
  for (const [name, shown] of [
    ['Ada Lovelace', { full: 'Ada Lovelace' }],
    [{ full: 'Ada Lovelace' }, { full: 'Ada Lovelace' }],
    [{ full: 'Ada Lovelace', first: null }, { full: 'Ada Lovelace' }],
    [parts, parts],
    [
      { first: 'Ada', last: 'Lovelace' },
      { first: 'Ada', last: 'Lovelace' },
    ],
  ]) {
    const { status, body } = await create(tokens.bank, { type: 'individual', name, ...contact });
    assert.equal(status, 201, JSON.stringify(body));
    const { body: got } = await app.call({ url: `/api/customers/${body.guid}`, token: tokens.bank });
    assert.deepEqual(got, body);
    const { address, email, phone } = got;
    assert.deepEqual([got.name, { address, email, phone }], [shown, contact]);
  }
});

test('a full name is stored as a string, which the previous version reads', async () => {
  const { body } = await create(tokens.bank, { type: 'individual', name: { full: 'Ada' } });
  const { details } = await app.database.queries
    .selectFrom('objects')
    .select('details')
    .where('guid', '=', String(body.guid))
    .executeTakeFirstOrThrow();
  assert.deepEqual(details, { type: 'individual', name: 'Ada' });
});

test('invalid input is refused with the name of its field', async () => {
  const before = await customers();
  const send = (input: object) => create(tokens.bank, input);
  assertError(await send({ name: 'Ada' }), 400, 'missing_parameter', 'type is required');
  for (const type of ['person', '', 'INDIVIDUAL', 1, ['individual']])
    assertError(await send({ type }), 400, 'invalid_parameter', /^type /);
  for (const [field, wrong] of Object.entries(WRONG))
    for (const value of wrong)
      assertError(
        await send({ type: 'individual', [field]: value }),
        400,
        value === NO_STREET ? 'missing_parameter' : 'invalid_parameter',
        new RegExp(`^${field}[ .]`),
      );
  for (const field of ['guid', 'organization_guid', 'environment', 'created_at', 'state'])
    assertError(
      await send({ type: 'individual', [field]: 'x' }),
      400,
      'invalid_parameter',
      new RegExp(`^${field} `),
    );
  assert.equal(await customers(), before);
  assert.equal((await send({ type: 'individual', name: 'x'.repeat(128) })).status, 201);
});

test('a creation has an audit record, a refusal has none', async () => {
  const path = `/banks/${tenant.bankGuid}/applications`;
  const key = await createKey(app, path, { name: 'Key', ip_allowlist: ['193.0.6.139'] });
  const { headers, body } = await app.call({
    ...{ method: 'POST', url: '/api/customers', payload: { type: 'individual', name: 'Ada' } },
    ...{ token: await tokenOf(app, key, SCOPE), remoteAddress: '193.0.6.139' },
  });
  assert.deepEqual(soleRecord(await auditRecordsOf(app, String(body.guid))), {
    organization_guid: tenant.organizationGuid,
    ...{ actor_type: 'application', actor: key.clientId, address: '193.0.6.139' },
    ...{ action: 'customer.create', object_type: 'customer', object_id: body.guid },
    changes: { bank_guid: tenant.bankGuid, type: 'individual' },
    ...{ request_id: headers['x-request-id'], created_at: app.clock.now().toISOString() },
  });
  const list = () => app.operate('GET', '/audit_records?action=customer.create');
  const before = (await list()).body.total;
  await create(tokens.organization, { type: 'individual', bank_guid: ABSENT });
  assert.equal((await list()).body.total, before);
});
