import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, soleRecord } from '../../testing/api/answers.ts';
import { createCallers, createSiblings, issueToken } from '../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createTenant } from '../../testing/app/tenant.ts';
import { createCustomer, customerToken } from '../../testing/objects/customers.ts';
import { CRYPTO_ACCOUNT, newObject, reportObject, typeOf } from '../../testing/objects/objects.ts';
import type { TokenType } from '../tokens/claims.ts';
import { OBJECT_TYPES } from './types.ts';

/**
 * POST /api/<objects> in sandbox (contract, section 11); customers are in `customer-*.test.ts`, quotes in
 * `market/quotes.test.ts`.
 */
const app = await createTestApp();
const owner = await createCallers(app);
const siblings = await createSiblings(app, owner);
const stranger = await createCallers(app);
const TYPES = OBJECT_TYPES.filter(({ machine }) => machine);
const HOLDERS: readonly TokenType[] = ['organization', 'bank', 'customer', 'user'];
const ABSENT = '0'.repeat(32);

async function create(plural: string, payload: object, holder: TokenType = 'bank') {
  const token = await issueToken(app, owner, holder);
  return app.call({ method: 'POST', url: `/api/${plural}`, token, payload });
}

for (const type of TYPES) {
  const { name, plural } = type;

  test(`${name}: every token that may create one can, and owns it`, async () => {
    for (const holder of HOLDERS) {
      const input = { ...(await newObject(app, type, owner)), labels: ['mine'] };
      const { status, body } = await create(plural, { ...input, bank_guid: owner.bankGuid }, holder);
      assert.equal(status, 201, JSON.stringify(body));
      const { guid, ...rest } = body;
      const now = app.clock.now().toISOString();
      assert.deepEqual(rest, {
        // From the account.
        ...(name === 'deposit_address' && { asset: 'BTC' }),
        ...{ organization_guid: owner.organizationGuid, bank_guid: owner.bankGuid, environment: 'sandbox' },
        ...{ ...input, state: name === 'account' ? 'funded' : 'storing' },
        ...{ created_at: now, updated_at: now },
      });
      const shown = await app.call({
        url: `/api/${plural}/${guid}`,
        token: await issueToken(app, owner, holder),
      });
      assert.deepEqual(shown.body, body);
    }
  });

  test(`${name}: creation in production is refused, and the message says why`, async () => {
    const live = await createTenant(app, { environment: 'production' });
    const of = { ...live, customerGuid: await createCustomer(app, live.bankGuid) };
    for (const holder of HOLDERS) {
      const token = await issueToken(app, of, holder, { environment: 'production' });
      // The environment of the token decides, whichever bank is named.
      for (const bank_guid of [of.bankGuid, owner.bankGuid, undefined])
        assertError(
          await app.call({
            method: 'POST',
            url: `/api/${plural}`,
            token,
            payload: { ...(await newObject(app, type, of)), bank_guid },
          }),
          422,
          'not_implemented',
          `${plural} can be created in sandbox only; the platform creates those in production`,
        );
    }
  });

  test(`${name}: a customer token creates for its own customer only`, async () => {
    const token = await issueToken(app, owner, 'customer');
    const { customer_guid: _, ...input } = (await newObject(app, type, owner)) as Record<string, unknown>;
    const send = (payload: object) => app.call({ method: 'POST', url: `/api/${plural}`, token, payload });
    assert.equal((await send(input)).body.customer_guid, owner.customerGuid);
    const another = await createCustomer(app, owner.bankGuid);
    for (const customer_guid of [another, siblings.customerGuid, stranger.customerGuid, ABSENT])
      assertError(await send({ ...input, customer_guid }), 422, 'no_customer', /^customer_guid /);
  });

  test(`${name}: the customer must belong to the bank`, async () => {
    const input = await newObject(app, type, owner);
    for (const customer_guid of [siblings.customerGuid, stranger.customerGuid, ABSENT])
      assertError(await create(plural, { ...input, customer_guid }), 422, 'no_customer', /^customer_guid /);
    const without = await create(plural, { ...input, customer_guid: undefined });
    if (type.customer === 'required')
      assertError(without, 400, 'missing_parameter', 'customer_guid is required');
    // An execution has the customer of its plan.
    else if (type.owner && type.owner.field in input)
      assert.deepEqual([without.status, without.body.customer_guid], [201, owner.customerGuid]);
    else assert.deepEqual([without.status, 'customer_guid' in without.body], [201, false]);
  });

  test(`${name}: the creation has an audit record`, async () => {
    const { body, headers } = await create(plural, await newObject(app, type, owner));
    const { changes, ...record } = soleRecord(await auditRecordsOf(app, String(body.guid)));
    assert.deepEqual(record, {
      organization_guid: owner.organizationGuid,
      ...{ actor_type: 'application', actor: owner.bankKey.clientId, address: '127.0.0.1' },
      ...{ action: `${name}.create`, object_type: name, object_id: body.guid },
      ...{ request_id: headers['x-request-id'], created_at: app.clock.now().toISOString() },
    });
    assert.deepEqual(changes, {
      ...{ bank_guid: owner.bankGuid, customer_guid: owner.customerGuid, state: body.state },
      ...('type' in body && { type: body.type }),
    });
  });

  test(`${name}: simulate is one of its states except the first`, async () => {
    const input = await newObject(app, type, owner);
    for (const simulate of ['unheard_of', 'storing', 'funded', ''])
      assertError(await create(plural, { ...input, simulate }), 400, 'invalid_parameter', /^simulate /);
  });

  for (const [field, kinds] of Object.entries(type.references ?? {}))
    test(`${name}: ${field} must reference an object of the bank that the token may access`, async () => {
      const input = await newObject(app, type, owner);
      const send = (guid: string, holder: TokenType = 'bank') =>
        create(plural, { ...input, [field]: guid }, holder);
      const fields = field === 'account_guid' ? CRYPTO_ACCOUNT : {};
      for (const kind of kinds)
        assert.equal((await send(await reportObject(app, kind, owner, fields))).status, 201, kind);
      const foreign = await reportObject(app, kinds[0] as string, stranger);
      const sibling = await reportObject(app, kinds[0] as string, siblings);
      const another = await reportObject(app, 'trade', owner);
      for (const guid of [foreign, sibling, another, owner.customerGuid, ABSENT])
        assertError(await send(guid), 422, 'no_object', new RegExp(`^${field} must be the guid of `));
      const customerGuid = await createCustomer(app, owner.bankGuid);
      const hidden = await reportObject(app, kinds[0] as string, { ...owner, customerGuid });
      for (const holder of HOLDERS)
        assertError(
          await create(plural, { ...input, [field]: hidden, bank_guid: owner.bankGuid }, holder),
          422,
          'no_object',
          new RegExp(`^${field} must be the guid of .* of this customer$`),
        );
      const ofBank = await reportObject(app, kinds[0] as string, owner, { customer_guid: undefined });
      assertError(await send(ofBank), 422, 'no_object', /of this customer$/);
    });
}

test('an execution belongs to the customer of its plan', async () => {
  const another = { ...owner, customerGuid: await createCustomer(app, owner.bankGuid) };
  const plan_guid = await reportObject(app, 'plan', another);
  for (const holder of ['organization', 'bank', 'user'] as const) {
    const given = { plan_guid, bank_guid: owner.bankGuid };
    const { status, body } = await create('executions', given, holder);
    assert.deepEqual([status, body.customer_guid], [201, another.customerGuid]);
    const wrong = await create('executions', { ...given, customer_guid: owner.customerGuid }, holder);
    assertError(wrong, 422, 'no_object', 'plan_guid must be the guid of a plan of this customer');
  }
  assertError(await create('executions', { plan_guid }, 'customer'), 422, 'no_object');
  const source_account_guid = await reportObject(app, 'account', owner);
  const mixed = await create('executions', { plan_guid, source_account_guid });
  assertError(mixed, 422, 'no_object', /^source_account_guid must be the guid of .* of this customer$/);
});

test('a deposit address belongs to the customer of its account and has the asset of the account', async () => {
  const another = { ...owner, customerGuid: await createCustomer(app, owner.bankGuid) };
  const account_guid = await reportObject(app, 'account', another, {
    details: { type: 'trading', asset: 'BTC' },
  });
  const { status, body } = await create('deposit_addresses', { account_guid });
  assert.deepEqual([status, body.customer_guid, body.asset], [201, another.customerGuid, 'BTC']);
  assert.equal((await create('deposit_addresses', { account_guid, asset: 'BTC' })).status, 201);
  assertError(
    await create('deposit_addresses', { account_guid, asset: 'ETH' }),
    422,
    'no_object',
    'account_guid must be the guid of an account with the asset ETH; this account has BTC',
  );
  assertError(await create('deposit_addresses', { account_guid }, 'customer'), 422, 'no_object');
});

test('a deposit address of a fiat account is refused', async () => {
  for (const asset of ['USD', 'CAD', 'EUR', 'GBP'])
    for (const type of ['fiat', 'reserve']) {
      const account_guid = await reportObject(app, 'account', owner, { details: { type, asset } });
      for (const given of [{}, { asset }])
        assertError(
          await create('deposit_addresses', { account_guid, ...given }),
          422,
          'no_object',
          `account_guid must be the guid of an account with a crypto asset, for example BTC; this account has ${asset}`,
        );
    }
  const account_guid = await reportObject(app, 'account', owner, {
    details: { type: 'trading', asset: 'DOGE' },
  });
  assert.equal((await create('deposit_addresses', { account_guid })).status, 201, 'not in the catalogue');
});

test('a workflow that updates a link names the external bank account and gets its customer', async () => {
  const input = { type: 'plaid', kind: 'link_token_update' };
  assertError(
    await create('workflows', input),
    400,
    'missing_parameter',
    'external_bank_account_guid is required for link_token_update',
  );
  const external_bank_account_guid = await reportObject(app, 'external_bank_account', owner);
  const { status, body } = await create('workflows', { ...input, external_bank_account_guid });
  assert.deepEqual([status, body.customer_guid], [201, owner.customerGuid]);
});

test('executions of a plan of the bank belong to the bank', async () => {
  const plan_guid = await reportObject(app, 'plan', owner, { customer_guid: undefined });
  const { status, body } = await create('executions', { plan_guid });
  assert.deepEqual([status, 'customer_guid' in body], [201, false]);
  const { customerGuid: customer_guid } = owner;
  assertError(
    await create('executions', { plan_guid, customer_guid }),
    422,
    'no_object',
    /of this customer$/,
  );
});

test('only a completed plan can be executed', async () => {
  for (const state of ['storing', 'planning', 'failed']) {
    const plan_guid = await reportObject(app, 'plan', owner, { state });
    for (const holder of HOLDERS)
      assertError(
        await create('executions', { plan_guid, bank_guid: owner.bankGuid }, holder),
        422,
        'plan_not_completed',
        `plan_guid must be the guid of a completed plan; this plan is ${state}`,
      );
  }
});

test('a customer token without the scope creates nothing', async () => {
  const token = await customerToken(app, owner, owner.customerGuid, ['trades:read']);
  const payload = await newObject(app, typeOf('trade'), owner);
  assertError(
    await app.call({ method: 'POST', url: '/api/trades', token, payload }),
    403,
    'invalid_scopes',
    /trades:execute$/,
  );
});
