import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createCallers, issueToken } from '../../../testing/api/api-callers.ts';
import { assertError, createTestApp, OPERATOR_TOKEN } from '../../../testing/app/app.ts';
import { countEach } from '../../../testing/app/dispatching.ts';
import { createCustomer } from '../../../testing/objects/customers.ts';

const app = await createTestApp();
/** A second node. */
const otherApp = await createTestApp({ testDatabase: app.testDatabase, clock: app.clock });
const owner = await createCallers(app);
const CUSTOMER = { type: 'individual', bank_guid: owner.bankGuid };

async function create(
  key: string | undefined,
  {
    payload = CUSTOMER as object,
    token = undefined as string | undefined,
    url = '/api/customers',
    on = app,
  } = {},
) {
  return on.call({
    method: 'POST',
    url,
    token: token ?? (await issueToken(app, owner, 'organization')),
    headers: key === undefined ? {} : { 'idempotency-key': key },
    payload,
  });
}

async function countCustomers(): Promise<number> {
  const customers = app.database.queries.selectFrom('objects').where('type', '=', 'customer');
  const { count } = await customers
    .select((expression) => expression.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

test('concurrent repeats on two nodes create one object', async () => {
  const before = await countCustomers();
  const key = randomUUID();
  const nodes = [app, otherApp];
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) => create(key, { on: nodes[index % 2] as typeof app })),
  );
  for (const answer of answers)
    if (answer.status !== 201) {
      assertError(answer, 409, 'idempotency_in_progress');
      assert.equal(answer.headers['retry-after'], '1');
    }
  const created = answers.filter(({ status }) => status === 201);
  assert.equal(countEach(created.map(({ body }) => body.guid)).size, 1);
  assert.equal(created.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length, 1);
  assert.equal(await countCustomers(), before + 1);
  const repeated = await create(key, { on: otherApp });
  assert.deepEqual(repeated.body, created[0]?.body);
});

test('a request without a key is never a repeat', async () => {
  const [one, other] = [await create(undefined), await create(undefined)];
  assert.notEqual(one.body.guid, other.body.guid);
});

test('a refused request frees its key', async () => {
  const key = randomUUID();
  const account = { type: 'fiat', asset: 'USD', bank_guid: owner.bankGuid };
  const wrong = { ...account, customer_guid: 'f'.repeat(32) };
  const url = '/api/accounts';
  assertError(await create(key, { payload: wrong, url }), 422, 'no_customer');
  const right = { ...account, customer_guid: owner.customerGuid };
  const created = await create(key, { payload: right, url });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  assert.equal((await create(key, { payload: right, url })).body.guid, created.body.guid);
});

test('the order of the fields and null do not make another request, a value does', async () => {
  const key = randomUUID();
  const { body } = await create(key, { payload: { type: 'individual', bank_guid: owner.bankGuid } });
  const same = { bank_guid: owner.bankGuid, labels: null, type: 'individual' };
  assert.equal((await create(key, { payload: same })).body.guid, body.guid);
  assertError(
    await create(key, { payload: { ...CUSTOMER, type: 'business' } }),
    422,
    'idempotency_key_reused',
    'Idempotency-Key was used for a different request; use a new key for each operation',
  );
});

test('owners of tokens, Organizations and environments have keys of their own', async () => {
  const stranger = await createCallers(app);
  const key = randomUUID();
  const tokens = [
    await issueToken(app, owner, 'organization'),
    await issueToken(app, owner, 'bank'),
    await issueToken(app, owner, 'user'),
    await issueToken(app, owner, 'user', { environment: 'sandbox' }),
    await issueToken(app, { ...owner, memberGuid: stranger.memberGuid }, 'user'),
  ];
  const answers = await Promise.all(tokens.map((token) => create(key, { token })));
  const payload = { ...CUSTOMER, bank_guid: stranger.bankGuid };
  answers.push(await create(key, { payload, token: await issueToken(app, stranger, 'organization') }));
  for (const { status, headers } of answers) {
    assert.equal(status, 201);
    assert.equal(headers['idempotency-replayed'], undefined);
  }
  assert.equal(new Set(answers.map(({ body }) => body.guid)).size, answers.length);
});

test('customers of one key pair have keys of their own', async () => {
  const key = randomUUID();
  const customers = [owner.customerGuid, await createCustomer(app, owner.bankGuid)];
  const guids = new Set<unknown>();
  for (const customerGuid of customers) {
    const token = await issueToken(app, { ...owner, customerGuid }, 'customer');
    const created = await create(key, {
      url: '/api/accounts',
      payload: { type: 'fiat', asset: 'USD' },
      token,
    });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    guids.add(created.body.guid);
  }
  assert.equal(guids.size, customers.length);
});

test('a new token of the same key pair repeats the request, one without the scope does not', async () => {
  const key = randomUUID();
  const { body } = await create(key);
  assert.equal((await create(key)).body.guid, body.guid);
  const token = await issueToken(app, owner, 'organization', { scopes: ['customers:read'] });
  assertError(await create(key, { token }), 403, 'invalid_scopes');
});

test('a key is unknown after 24 hours', async () => {
  const key = randomUUID();
  const { body } = await create(key);
  app.clock.advance(24 * 3_600_000 - 1);
  assert.equal((await create(key)).body.guid, body.guid);
  app.clock.advance(1);
  const again = await create(key);
  assert.equal(again.status, 201);
  assert.notEqual(again.body.guid, body.guid);
});

test('a key has 1 to 255 printable ASCII characters', async () => {
  for (const key of ['', 'a'.repeat(256), 'schlüssel', 'a\tb', '\x7f'])
    assertError(
      await create(key),
      400,
      'invalid_parameter',
      'Idempotency-Key must have 1 to 255 printable ASCII characters',
    );
  for (const key of ['a', '~'.repeat(255), '"quoted, with spaces"'])
    assert.equal((await create(key)).status, 201);
});

test('the input is checked before the key', async () => {
  const key = randomUUID();
  assertError(await create(key, { payload: { type: 'unknown' } }), 400, 'invalid_parameter', /^type /);
  assert.equal((await create(key)).status, 201);
});

test('other methods ignore the header', async () => {
  const token = await issueToken(app, owner, 'organization');
  const headers = { 'idempotency-key': '' };
  assert.equal((await app.call({ url: '/api/customers', token, headers })).status, 200);
});

test('the content of a file belongs to the request', async () => {
  const file = {
    ...{ type: 'other', filename: 'a.json', content_type: 'application/json' },
    customer_guid: owner.customerGuid,
  };
  const content = (size: number) => Buffer.from(JSON.stringify('a'.repeat(size))).toString('base64');
  const post = async (key: string, data: string) =>
    create(key, { url: '/api/files', payload: { ...file, data } });
  for (const size of [10, 3_000_000]) {
    const key = randomUUID();
    const first = await post(key, content(size));
    assert.equal(first.status, 201, JSON.stringify(first.body));
    assert.deepEqual((await post(key, content(size))).body, first.body);
    assertError(await post(key, content(size + 1)), 422, 'idempotency_key_reused');
  }
});

test('keyed and other events are accepted together', async () => {
  const event = {
    ...{ organization_guid: owner.organizationGuid, bank_guid: owner.bankGuid },
    ...{ event_type: 'transfer.completed', object_guid: 'f'.repeat(32) },
  };
  const post = (key?: string) =>
    create(key, { url: '/operator/events', token: OPERATOR_TOKEN, payload: { events: [event] } });
  const key = randomUUID();
  const answers = await Promise.all([post(), post(key), post(), post(randomUUID())]);
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.created]),
    answers.map(() => [202, 1]),
  );
  assert.deepEqual((await post(key)).body, answers[1]?.body);
});
