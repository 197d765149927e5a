import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf } from '../../testing/api/answers.ts';
import { createCallers, createSiblings, issueToken } from '../../testing/api/api-callers.ts';
import { type Answer, assertError, createTestApp } from '../../testing/app/app.ts';
import { createTenant } from '../../testing/app/tenant.ts';
import { createCustomer, customerToken } from '../../testing/objects/customers.ts';
import { newObject, report, reportObject, reportOf, typeOf } from '../../testing/objects/objects.ts';
import { eventTypesOf } from '../../testing/webhooks/subscriptions.ts';
import type { TokenType } from '../tokens/claims.ts';

/** PATCH of customers and accounts in sandbox. External bank accounts are in `refresh-deletion.test.ts`. */
const app = await createTestApp();
const owner = await createCallers(app);
const siblings = await createSiblings(app, owner);
const HOLDERS: readonly TokenType[] = ['organization', 'bank', 'customer', 'user'];
const ADDRESS = { street: '12 St James Square', city: 'London', country_code: 'GB' };
const CONTACT = { address: ADDRESS, email: 'ada@example.com', phone: '+442071234567' };

async function patch(path: string, payload: object, holder: TokenType = 'bank', of = owner) {
  return app.call({
    ...{ method: 'PATCH', url: `/api/${path}`, token: await issueToken(app, of, holder) },
    payload,
  });
}
const show = async (path: string) =>
  (await app.call({ url: `/api/${path}`, token: await issueToken(app, owner, 'bank') })).body;

test('every token that may change a customer can, and only the given fields change', async () => {
  const path = `customers/${owner.customerGuid}`;
  for (const holder of HOLDERS) {
    const before = await show(path);
    app.clock.advance(1_000);
    const given = { name: { first: holder, last: 'Lovelace' }, ...CONTACT, labels: [holder] };
    const { status, body } = await patch(path, given, holder);
    assert.equal(status, 200, JSON.stringify(body));
    const updated_at = app.clock.now().toISOString();
    assert.deepEqual(body, { ...before, ...given, updated_at });
    assert.deepEqual(await show(path), body);
    app.clock.advance(1_000);
    const { body: renamed } = await patch(path, { name: 'Ada' }, holder);
    assert.deepEqual(renamed, {
      ...{ ...body, name: { full: 'Ada' } },
      updated_at: app.clock.now().toISOString(),
    });
  }
});

test('null removes an optional field of a customer, and an empty list removes the labels', async () => {
  const guid = await createCustomer(app, owner.bankGuid);
  const before = await show(`customers/${guid}`);
  await patch(`customers/${guid}`, { name: 'Ada', ...CONTACT, labels: ['a'] });
  const { body: unlabelled } = await patch(`customers/${guid}`, { labels: [] });
  assert.ok(!('labels' in unlabelled) && 'name' in unlabelled);
  const removed = await patch(`customers/${guid}`, { name: null, address: null, email: null, phone: null });
  assert.deepEqual(removed.body, { ...before, updated_at: app.clock.now().toISOString() });
  const partial = await patch(`customers/${guid}`, { address: { ...ADDRESS, street2: null }, labels: null });
  assert.deepEqual(partial.body.address, ADDRESS, 'null within a field counts as absent');
});

test('a change that changes nothing leaves updated_at and writes no audit record', async () => {
  const guid = await createCustomer(app, owner.bankGuid);
  const given = { name: { full: 'Ada' }, ...CONTACT, labels: ['a'] };
  const { body } = await patch(`customers/${guid}`, given);
  const records = await auditRecordsOf(app, guid);
  app.clock.advance(1_000);
  for (const same of [given, {}, { name: 'Ada' }, { labels: ['a'] }])
    assert.deepEqual((await patch(`customers/${guid}`, same)).body, body);
  assert.deepEqual(await auditRecordsOf(app, guid), records);
});

test('the audit record names the changed fields and has no personal data; the log has none either', async () => {
  const guid = await createCustomer(app, owner.bankGuid, { type: 'individual' });
  await patch(`customers/${guid}`, { name: { first: 'Hephzibah', last: 'Quux' }, ...CONTACT, labels: ['a'] });
  const records = await auditRecordsOf(app, guid);
  const update = records.find(({ action }) => action === 'customer.update');
  assert.deepEqual([update?.actor, update?.object_type], [owner.bankKey.clientId, 'customer']);
  assert.deepEqual(update?.changes, {
    ...{ bank_guid: owner.bankGuid, type: 'individual' },
    fields: ['address', 'email', 'labels', 'name', 'phone'],
  });
  const written = JSON.stringify(records) + app.logged.join('\n');
  for (const secret of ['Hephzibah', 'Quux', 'ada@example.com', '+442071234567', 'St James'])
    assert.ok(!written.includes(secret), secret);
});

test('labels of an account change, its balance and type do not', async () => {
  const guid = await reportObject(app, 'account', owner);
  const before = await show(`accounts/${guid}`);
  for (const holder of HOLDERS) {
    app.clock.advance(1_000);
    const { status, body } = await patch(`accounts/${guid}`, { labels: [holder] }, holder);
    const updated_at = app.clock.now().toISOString();
    assert.deepEqual([status, body], [200, { ...before, labels: [holder], updated_at }]);
  }
  for (const [field, value] of Object.entries({
    balance: 1,
    type: 'fee',
    name: 'x',
    asset: 'USD',
    state: 'low',
  }))
    assertError(
      await patch(`accounts/${guid}`, { [field]: value }),
      400,
      'invalid_parameter',
      `${field} is not a parameter of this operation`,
    );
});

test('a change of the balance is another version, but does not refuse a change of labels', async () => {
  const token = await issueToken(app, owner, 'bank');
  const guid = await reportObject(app, 'account', owner);
  const url = `/api/accounts/${guid}`;
  const tagOf = ({ headers }: Answer) => String(headers.etag);
  const read = tagOf(await app.call({ url, token }));
  app.clock.advance(1_000);
  const type = typeOf('account');
  const { details } = reportOf(type, owner) as { details: object };
  await report(app, type, guid, reportOf(type, owner, { details: { ...details, balance: 1 } }));
  const after = await app.call({ url, token, headers: { 'if-none-match': read } });
  assert.deepEqual([after.status, after.body.balance, after.body.state], [200, 1, 'below_minimum']);
  const edit = (labels: string[], tag: string) =>
    app.call({ method: 'PATCH', url, token, payload: { labels }, headers: { 'if-match': tag } });
  const edited = await edit(['mine'], read);
  assert.deepEqual([edited.status, edited.body.labels, edited.body.balance], [200, ['mine'], 1]);
  for (const stale of [read, tagOf(after)])
    assertError(await edit(['yours'], stale), 412, 'precondition_failed');
  assert.equal((await edit(['yours'], tagOf(edited))).status, 200);
});

test('a change of labels leaves the simulation as it is', async () => {
  const { body } = await app.call({
    ...{ method: 'POST', url: '/api/accounts', token: await issueToken(app, owner, 'bank') },
    payload: { ...(await newObject(app, typeOf('account'), owner)), simulate: 'below_minimum' },
  });
  app.clock.advance(500);
  await patch(`accounts/${body.guid}`, { labels: ['mine'] });
  app.clock.advance(500);
  await app.simulator.drain();
  const moved = await show(`accounts/${body.guid}`);
  assert.deepEqual([moved.state, moved.labels], ['low', ['mine']]);
});

test('a change of labels and a transition of the simulator at once are both kept', async () => {
  const input = { ...(await newObject(app, typeOf('account'), owner)), simulate: 'low' };
  const token = await issueToken(app, owner, 'bank');
  for (let round = 0; round < 10; round++) {
    const { body } = await app.call({ method: 'POST', url: '/api/accounts', token, payload: input });
    app.clock.advance(1_000);
    await Promise.all([patch(`accounts/${body.guid}`, { labels: ['mine'] }), app.simulator.drain()]);
    // A round skips a row that the change has locked.
    await app.simulator.drain();
    const { state, balance, labels } = await show(`accounts/${body.guid}`);
    assert.deepEqual([state, balance, labels], ['low', 499, ['mine']]);
    assert.deepEqual(await eventTypesOf(app, String(body.guid)), ['account.balance_funding_pull.low']);
  }
});

test('invalid changes are refused with the name of the field, and change nothing', async () => {
  const guid = await createCustomer(app, owner.bankGuid, { type: 'individual', name: 'Ada' });
  const before = await show(`customers/${guid}`);
  const cases: [field: string, values: unknown[]][] = [
    ['name', ['', ' ', 1, [], {}, { first: 'Ada' }, { full: 'x', last: 'y' }, { full: 1 }]],
    ['address', ['London', {}, { ...ADDRESS, country_code: 'gb' }]],
    ['email', ['ada', 1, '']],
    ['phone', ['0123', 1]],
    ['labels', ['x', [''], ['x', 'x'], ['x'.repeat(51)], Array.from({ length: 11 }, (_, i) => `${i}`)]],
    ['type', ['business']],
    ['guid', ['x']],
  ];
  for (const [field, values] of cases)
    for (const value of values) {
      const { status, body } = await patch(`customers/${guid}`, { [field]: value });
      assert.equal(status, 400, JSON.stringify(value));
      assert.match(String(body.message), new RegExp(`^${field}[ .[]`));
    }
  assertError(
    await patch(`customers/${guid}`, { name: true }),
    400,
    'invalid_parameter',
    'name must be a string or a JSON object',
  );
  assert.deepEqual(await show(`customers/${guid}`), before);
});

test('objects that the token cannot access are not found', async () => {
  const account = await reportObject(app, 'account', owner);
  const other = await createCustomer(app, owner.bankGuid);
  for (const path of [`customers/${owner.customerGuid}`, `accounts/${account}`]) {
    for (const holder of ['bank', 'customer'] as const)
      assertError(await patch(path, { labels: ['x'] }, holder, siblings), 404, 'not_found');
    const token = await customerToken(app, owner, other, ['customers:write', 'accounts:write']);
    const answer = await app.call({
      method: 'PATCH',
      url: `/api/${path}`,
      token,
      payload: { labels: ['x'] },
    });
    assertError(answer, 404, 'not_found');
  }
  // Another type's guid is not a guid of this type.
  assertError(await patch(`customers/${account}`, { labels: ['x'] }), 404, 'not_found');
});

test('objects of production are not changed', async () => {
  const live = await createTenant(app, { environment: 'production' });
  const of = { ...live, customerGuid: await createCustomer(app, live.bankGuid) };
  const account = await reportObject(app, 'account', of);
  for (const path of [`customers/${of.customerGuid}`, `accounts/${account}`])
    for (const holder of HOLDERS) {
      const token = await issueToken(app, of, holder, { environment: 'production' });
      const [plural] = path.split('/');
      assertError(
        await app.call({ method: 'PATCH', url: `/api/${path}`, token, payload: { labels: ['x'] } }),
        422,
        'not_implemented',
        `${plural} can be changed in sandbox only; the platform changes those in production`,
      );
    }
});

test('a change needs the scope for writing', async () => {
  const scopes = ['customers:read', 'customers:execute', 'accounts:read', 'accounts:execute'];
  const token = await issueToken(app, owner, 'bank', { scopes });
  const url = `/api/customers/${owner.customerGuid}`;
  const answer = await app.call({ method: 'PATCH', url, token, payload: {} });
  assertError(answer, 403, 'invalid_scopes', /customers:write$/);
});

test('concurrent changes of different fields are all kept', async () => {
  const guid = await createCustomer(app, owner.bankGuid);
  const changes = [{ name: 'Ada' }, { email: CONTACT.email }, { phone: CONTACT.phone }, { labels: ['a'] }];
  await Promise.all(changes.map((change) => patch(`customers/${guid}`, change)));
  const { name, email, phone, labels } = await show(`customers/${guid}`);
  assert.deepEqual(
    { name, email, phone, labels },
    { name: { full: 'Ada' }, email: CONTACT.email, phone: CONTACT.phone, labels: ['a'] },
  );
});
