import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { objectsOf } from '../../../testing/api/answers.ts';
import { issueToken } from '../../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createCustomer, nextGuid } from '../../../testing/objects/customers.ts';
import { report, reportObject, reportOf, typeOf } from '../../../testing/objects/objects.ts';
import { OBJECT_TYPES } from '../types.ts';
import { VALUE_FILTERS, valueFiltersOf } from './value-filters.ts';

/** Filters by values of objects and by the time of their last change (contract, section 5). */
const app = await createTestApp();
const owner = { ...(await createTenant(app)), customerGuid: '' };
owner.customerGuid = await createCustomer(app, owner.bankGuid);
const token = await issueToken(app, owner, 'bank');
const MINUTE = 60_000;

async function list(plural: string, query: string) {
  return app.call({ url: `/api/${plural}?${query}`, token });
}

async function guidsOf(plural: string, query: string): Promise<unknown[]> {
  return objectsOf(await list(plural, query)).map(({ guid }) => guid);
}

const [first, second] = [nextGuid(app), nextGuid(app)];
const trade = { side: 'buy', symbol: 'BTC-USD', amount: 1 };
const buy = await reportObject(app, 'trade', owner, { details: trade, labels: ['vip', 'gold'] });
const sell = await reportObject(app, 'trade', owner, {
  details: { ...trade, side: 'sell', symbol: 'ETH-USD' },
  labels: ['gold', 'A label: 100 %'],
});
const transfer = { transfer_type: 'book', asset: 'USD', amount: 1 };
const between = await reportObject(app, 'transfer', owner, {
  details: { ...transfer, source_account_guid: first, destination_account_guid: second },
});
const crypto = await reportObject(app, 'transfer', owner, {
  details: { ...transfer, transfer_type: 'crypto', asset: 'BTC', source_account_guid: second },
});
const [quoted, another] = [nextGuid(app), nextGuid(app)];
const quotedTrade = await reportObject(app, 'trade', owner, {
  details: { ...trade, side: 'sell', symbol: 'SOL-USD', quote_guid: quoted },
});
const quotedTransfer = await reportObject(app, 'transfer', owner, {
  details: { ...transfer, transfer_type: 'funding', asset: 'EUR', quote_guid: another },
});
const terms = {
  ...{ deliver_amount: 2, receive_amount: 1, fee: 0 },
  ...{ issued_at: '2026-11-15T12:00:00.000Z', expires_at: '2026-11-15T12:00:30.000Z' },
};
const buyQuote = await reportObject(app, 'quote', owner, {
  details: { product_type: 'trading', side: 'buy', symbol: 'BTC-USD', ...terms },
});
const depositQuote = await reportObject(app, 'quote', owner, {
  details: { product_type: 'funding', side: 'deposit', asset: 'USD', ...terms },
});
const address = await reportObject(app, 'deposit_address', owner, {
  details: { account_guid: first, asset: 'BTC' },
});
const otherAddress = await reportObject(app, 'deposit_address', owner, {
  details: { account_guid: second, asset: 'ETH' },
});
const execution = await reportObject(app, 'execution', owner, { details: { plan_guid: first } });
const verification = { type: 'kyc', method: 'attested' };
const verified = await reportObject(app, 'identity_verification', owner, {
  details: { ...verification, file_guids: [first, second] },
});
await reportObject(app, 'identity_verification', owner, { details: verification });

test('each filter finds the objects with one of its values, newest first', async () => {
  for (const [query, expected] of [
    ['trades?side=buy', [buy]],
    ['trades?side=buy,sell', [quotedTrade, sell, buy]],
    ['trades?side=buy&side=sell', [quotedTrade, sell, buy]],
    ['trades?symbol=ETH-USD', [sell]],
    [`identity_verifications?file_guid=${second}`, [verified]],
    [`identity_verifications?file_guid=${first},${second}&state=storing`, [verified]],
    [`identity_verifications?file_guid=${quoted}`, []],
    [`identity_verifications?file_guid=${first}&guid=${verified}`, [verified]],
    ['trades?symbol=ETH-EUR', []],
    ['trades?side=buy&symbol=ETH-USD', []],
    ['trades?label=vip', [buy]],
    ['trades?label=gold', [sell, buy]],
    ['trades?label=vip,gold', [sell, buy]],
    ['trades?label=vip&label=gold&per_page=1', [sell]],
    [`trades?label=vip,gold&per_page=1&after=${sell}`, [buy]],
    [`trades?label=${encodeURIComponent('A label: 100 %')}`, [sell]],
    ['trades?label=gold&state=completed', []],
    ['trades?label=gold&state=storing', [sell, buy]],
    ['transfers?transfer_type=crypto', [crypto]],
    ['transfers?asset=USD', [between]],
    ['transfers?asset=USD,BTC,CHF', [crypto, between]],
    [`transfers?account_guid=${first}`, [between]],
    [`transfers?account_guid=${second}`, [crypto, between]],
    [`transfers?account_guid=${first},${second}`, [crypto, between]],
    [`trades?quote_guid=${quoted}`, [quotedTrade]],
    [`trades?quote_guid=${another}`, []],
    [`trades?quote_guid=${quoted}&side=buy`, []],
    [`transfers?quote_guid=${another}`, [quotedTransfer]],
    [`transfers?quote_guid=${quoted},${another}`, [quotedTransfer]],
    [`transfers?quote_guid=${quoted}`, []],
    ['quotes?side=buy', [buyQuote]],
    ['quotes?side=deposit,buy', [depositQuote, buyQuote]],
    ['quotes?side=sell', []],
    ['quotes?symbol=BTC-USD', [buyQuote]],
    ['quotes?symbol=ETH-USD', []],
    ['quotes?asset=USD', [depositQuote]],
    ['quotes?asset=USD&symbol=BTC-USD', []],
    [`deposit_addresses?account_guid=${first}`, [address]],
    [`deposit_addresses?account_guid=${first},${second}`, [otherAddress, address]],
    [`deposit_addresses?account_guid=${quoted}`, []],
    ['deposit_addresses?asset=ETH', [otherAddress]],
    [`executions?plan_guid=${first}`, [execution]],
    [`executions?plan_guid=${second}`, []],
  ] as const) {
    const [plural = '', parameters = ''] = query.split('?');
    assert.deepEqual(await guidsOf(plural, parameters), expected, query);
  }
});

test('an object with several of the values counts once', async () => {
  const { total, next } = (await list('trades', 'label=vip,gold&per_page=1')).body;
  assert.deepEqual([total, next], [2, sell]);
});

test('an object type has the filters of its fields, and refuses others by name', async () => {
  for (const [name, filters] of [
    ['customer', 'label'],
    ['quote', 'asset label side symbol'],
    ['trade', 'label quote_guid side symbol'],
    ['transfer', 'account_guid asset label quote_guid side transfer_type'],
    ['deposit_address', 'account_guid asset label'],
  ] as const)
    assert.equal(
      Object.keys(valueFiltersOf(typeOf(name)))
        .sort()
        .join(' '),
      filters,
      name,
    );
  assertError(await list('accounts', 'side=buy'), 400, 'invalid_parameter', /^side /);
});

test('a customer, a bank and another tenant see their own objects only', async () => {
  const customerGuid = await createCustomer(app, owner.bankGuid);
  const own = await reportObject(app, 'trade', { ...owner, customerGuid }, { labels: ['vip'] });
  const stranger = await createTenant(app);
  const callers: [string, unknown[]][] = [
    [await issueToken(app, { ...owner, customerGuid }, 'customer'), [own]],
    [await issueToken(app, { ...owner, customerGuid }, 'organization'), [own, buy]],
    [
      await issueToken(
        app,
        { ...stranger, customerGuid: await createCustomer(app, stranger.bankGuid) },
        'bank',
      ),
      [],
    ],
  ];
  for (const [bearer, expected] of callers) {
    const answer = await app.call({ url: '/api/trades?label=vip', token: bearer });
    assert.deepEqual(
      objectsOf(answer).map(({ guid }) => guid),
      expected,
    );
  }
  assert.deepEqual(await guidsOf('trades', `label=vip&customer_guid=${customerGuid}`), [own]);
});

test('a changed value, label or customer is found by its new values only', async () => {
  const type = typeOf('plan');
  const guid = await reportObject(app, 'plan', owner, { labels: ['old', 'kept'], customer_guid: undefined });
  const change = (fields: object) =>
    report(app, type, guid, reportOf(type, owner, { state: 'completed', ...fields }));
  const before = (reportOf(type, owner) as { details: { asset: string } }).details;
  await change({ labels: ['kept', 'new'], details: { ...before, asset: 'CHF' } });
  for (const [query, expected] of [
    ['label=old', []],
    ['label=kept', [guid]],
    ['label=new', [guid]],
    ['asset=CHF', [guid]],
    [`asset=${before.asset}`, []],
    [`label=new&customer_guid=${owner.customerGuid}`, [guid]],
  ] as const)
    assert.deepEqual(await guidsOf('plans', query), expected, query);
});

test('updated_at_gte and updated_at_lt find objects by their last change', async () => {
  const state = (name: string) => ({ state: name });
  const type = typeOf('transfer');
  const start = app.clock.now().getTime();
  const at = (minutes: number) => encodeURIComponent(new Date(start + minutes * MINUTE).toISOString());
  const old = await reportObject(app, 'transfer', owner, state('storing'));
  app.clock.advance(10 * MINUTE);
  const young = await reportObject(app, 'transfer', owner, state('storing'));
  app.clock.advance(7 * MINUTE);
  await report(app, type, old, reportOf(type, owner, state('pending')));
  app.clock.advance(MINUTE);
  for (const [query, expected] of [
    [`updated_at_gte=${at(10)}`, [young, old]],
    [`updated_at_gte=${at(15)}`, [old]],
    [`updated_at_gte=${at(8)}&updated_at_lt=${at(15)}`, [young]],
    [`updated_at_gte=${at(18)}`, []],
    [`updated_at_gte=${at(8)}&created_at_lt=${at(5)}`, [old]],
    [`updated_at_gte=${at(8)}&state=pending`, [old]],
    [`updated_at_gte=${at(8)}&asset=USD&per_page=1`, [young]],
    [`updated_at_gte=${at(8)}&per_page=1&after=${young}`, [old]],
  ] as const)
    assert.deepEqual(await guidsOf('transfers', query), expected, query);
});

test('the database extracts the values of every filter', async () => {
  const all = VALUE_FILTERS.flatMap(({ fields, isArray }) =>
    fields.map((field) => [field, isArray ? [`of ${field}`] : `of ${field}`]),
  );
  const details = Object.fromEntries(all);
  const { rows } = await sql<{ value: string }>`
    select filter_values_of('x', ${JSON.stringify(details)}::jsonb, '{one}') as value order by 1`.execute(
    app.database.queries,
  );
  const expected = VALUE_FILTERS.flatMap(({ name, fields }) =>
    name === 'label' ? ['x.label:one'] : fields.map((field) => `x.${name}:of ${field}`),
  );
  assert.deepEqual(
    rows.map(({ value }) => value),
    expected.sort(),
  );
});

test('labels have at most 10 entries of 1 to 50 characters', async () => {
  const create = (labels: unknown) =>
    app.call({ method: 'POST', url: '/api/customers', token, payload: { type: 'individual', labels } });
  const ten = Array.from({ length: 10 }, (_, index) => `${index}`.repeat(50));
  assert.deepEqual((await create(ten)).body.labels, ten);
  for (const [labels, message] of [
    [[...ten, 'x'], /^labels must have at most 10 entries$/],
    [['x'.repeat(51)], /^labels\[0\] must have at most 50 characters$/],
    [[''], /^labels\[0\] must not be empty$/],
    [['a', 'a'], /^labels must not repeat an entry$/],
  ] as const)
    assertError(await create(labels), 400, 'invalid_parameter', message);
  assert.equal(
    OBJECT_TYPES.every((type) => 'label' in valueFiltersOf(type)),
    true,
  );
});
