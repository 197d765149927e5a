import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, soleRecord } from '../../../testing/api/answers.ts';
import { createCallers, createSiblings, issueToken, TOKEN_TYPES } from '../../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createCustomer, nextGuid } from '../../../testing/objects/customers.ts';
import { eventTypesOf } from '../../../testing/webhooks/subscriptions.ts';
import type { TokenType } from '../../tokens/claims.ts';
import { SYMBOLS } from './catalogue.ts';
import { sandboxPrice } from './sandbox-prices.ts';

/** POST /api/quotes. The use of quotes is in `quote-use.test.ts`. */
const app = await createTestApp();
const owner = await createCallers(app);
const siblings = await createSiblings(app, owner);
const customer_guid = owner.customerGuid;
const BUY = { product_type: 'trading', side: 'buy', symbol: 'BTC-USD', customer_guid };
const DEPOSIT = { product_type: 'funding', side: 'deposit', asset: 'USD', customer_guid };

async function create(payload: object, holder: TokenType = 'bank') {
  const token = await issueToken(app, owner, holder);
  return app.call({ method: 'POST', url: '/api/quotes', token, payload });
}

async function amountsOf(payload: object) {
  const { status, body } = await create(payload);
  assert.equal(status, 201, JSON.stringify(body));
  return [body.deliver_amount, body.receive_amount, body.fee];
}

test('every token that may create a quote can, and reads it back', async () => {
  for (const holder of TOKEN_TYPES) {
    const input = { ...BUY, deliver_amount: '100000', labels: ['mine'] };
    const { status, body } = await create({ ...input, bank_guid: owner.bankGuid }, holder);
    assert.equal(status, 201, JSON.stringify(body));
    const { guid, receive_amount, fee, ...rest } = body;
    const now = app.clock.now().toISOString();
    assert.deepEqual(rest, {
      ...{ organization_guid: owner.organizationGuid, bank_guid: owner.bankGuid, environment: 'sandbox' },
      ...{ ...input, deliver_amount: 100_000, created_at: now, updated_at: now, issued_at: now },
      expires_at: new Date(app.clock.now().getTime() + 30_000).toISOString(),
    });
    assert.ok(Number(receive_amount) > 0 && fee === 500);
    const token = await issueToken(app, owner, holder);
    assert.deepEqual((await app.call({ url: `/api/quotes/${guid}`, token })).body, body);
    assert.deepEqual(await eventTypesOf(app, String(guid)), []);
    const record = soleRecord(await auditRecordsOf(app, String(guid)));
    assert.deepEqual(
      [record.action, record.changes],
      ['quote.create', { bank_guid: owner.bankGuid, customer_guid }],
    );
  }
});

test('a trading quote has the current price and the fee, rounded in favour of the platform', async () => {
  const symbol = SYMBOLS.find((each) => each.symbol === 'ETH-USD') ?? assert.fail();
  const { buy, sell } = sandboxPrice(symbol, app.clock.now());
  const one = 10n ** 18n;
  const of = { ...BUY, symbol: 'ETH-USD' };
  const received = String(((100_000n - 500n) * one) / buy);
  assert.deepEqual(await amountsOf({ ...of, deliver_amount: 100_000 }), [100_000, received, 500]);
  const gross = ((buy + 1n) * 10_000n) / 9_950n + 1n;
  const [delivered, , fee] = await amountsOf({ ...of, receive_amount: String(one + 1n) });
  assert.ok(
    gross - BigInt(String(delivered)) <= 1n && BigInt(String(delivered)) - BigInt(String(fee)) === buy + 1n,
  );
  const ofSale = { ...of, side: 'sell' };
  const saleFee = (sell * 50n + 9_999n) / 10_000n;
  assert.deepEqual(await amountsOf({ ...ofSale, deliver_amount: String(one) }), [
    ...[String(one), Number(sell - saleFee), Number(saleFee)],
  ]);
});

test('a transfer quote has the fee of its type', async () => {
  for (const [product_type, fee] of [
    ['funding', 10],
    ['book', 0],
    ['crypto', 25],
    ['instant_funding', 100],
  ] as const)
    for (const side of ['deposit', 'withdrawal']) {
      const input = { ...DEPOSIT, product_type, side };
      assert.deepEqual(await amountsOf({ ...input, deliver_amount: 10_000 }), [10_000, 10_000 - fee, fee]);
      const [delivered, received, paid] = await amountsOf({ ...input, receive_amount: 10_000 });
      assert.deepEqual([received, Number(delivered) - Number(paid)], [10_000, 10_000]);
    }
});

test('the terms must fit the product', async () => {
  const cases: [input: object, code: string, message: RegExp][] = [
    [{ ...BUY }, 'missing_parameter', /^deliver_amount or receive_amount is required$/],
    [
      { ...BUY, deliver_amount: 1, receive_amount: 1 },
      'invalid_parameter',
      /^deliver_amount and receive_amount /,
    ],
    [{ ...BUY, symbol: undefined, deliver_amount: 1 }, 'missing_parameter', /^symbol is required /],
    [{ ...BUY, asset: 'USD', deliver_amount: 1 }, 'invalid_parameter', /^asset cannot be given /],
    [{ ...BUY, side: 'deposit', deliver_amount: 1 }, 'invalid_parameter', /^side must be buy or sell /],
    [
      { ...BUY, symbol: 'DOGE-USD', deliver_amount: 1 },
      'invalid_parameter',
      /^symbol must be one of BTC-USD/,
    ],
    [{ ...DEPOSIT, asset: undefined, deliver_amount: 1 }, 'missing_parameter', /^asset is required /],
    [{ ...DEPOSIT, symbol: 'BTC-USD', deliver_amount: 1 }, 'invalid_parameter', /^symbol cannot be given /],
    [
      { ...DEPOSIT, side: 'buy', deliver_amount: 1 },
      'invalid_parameter',
      /^side must be deposit or withdrawal /,
    ],
    [{ ...DEPOSIT, asset: 'DOGE', deliver_amount: 1 }, 'invalid_parameter', /^asset must be one of USD/],
    [{ ...DEPOSIT, product_type: 'wire', deliver_amount: 1 }, 'invalid_parameter', /^product_type /],
    [{ ...DEPOSIT, fee: 1, deliver_amount: 1 }, 'invalid_parameter', /^fee /],
    [{ ...DEPOSIT, simulate: 'completed', deliver_amount: 1 }, 'invalid_parameter', /^simulate /],
  ];
  for (const [input, code, message] of cases) assertError(await create(input), 400, code, message);
});

test('amounts that would be zero or too long are refused', async () => {
  const refused = async (input: object, message: RegExp) =>
    assertError(await create(input), 422, 'amount_out_of_range', message);
  await refused({ ...BUY, deliver_amount: 1 }, /^deliver_amount is too small/);
  await refused({ ...BUY, side: 'sell', deliver_amount: 1 }, /^deliver_amount is too small/);
  await refused(
    { ...BUY, symbol: 'ETH-USD', deliver_amount: '9'.repeat(38) },
    /^deliver_amount is too large/,
  );
  await refused({ ...DEPOSIT, receive_amount: '9'.repeat(38) }, /^receive_amount is too large/);
});

test('the customer must belong to the bank, and production refuses creation', async () => {
  for (const customer of [siblings.customerGuid, '0'.repeat(32)])
    assertError(await create({ ...BUY, customer_guid: customer, deliver_amount: 100 }), 422, 'no_customer');
  assertError(
    await create({ ...BUY, customer_guid: undefined, deliver_amount: 100_000 }),
    400,
    'missing_parameter',
    'customer_guid is required',
  );
  const { customer_guid: _, ...own } = BUY;
  assert.equal(
    (await create({ ...own, deliver_amount: 100_000 }, 'customer')).body.customer_guid,
    customer_guid,
  );
  const another = await createCustomer(app, owner.bankGuid);
  assertError(
    await create({ ...BUY, customer_guid: another, deliver_amount: 100_000 }, 'customer'),
    422,
    'no_customer',
  );
  const token = await issueToken(app, owner, 'bank', { environment: 'production' });
  const payload = { ...BUY, deliver_amount: 100_000 };
  assertError(
    await app.call({ method: 'POST', url: '/api/quotes', token, payload }),
    422,
    'not_implemented',
    /^quotes can be created in sandbox only/,
  );
});

const OFFER = {
  ...{ deliver_amount: 100, receive_amount: 99, fee: 1 },
  ...{ issued_at: '2026-11-15T12:00:00.000Z', expires_at: '2026-11-15T12:00:30.000Z' },
};

const report = (details: object, guid = nextGuid(app)) =>
  app.operate('PUT', `/objects/quote/${guid}`, {
    ...{ bank_guid: owner.bankGuid, customer_guid },
    details: { ...OFFER, ...details },
  });

test('a reported quote has the fields that a trade or transfer takes from it', async () => {
  const { customer_guid: _, ...buy } = BUY;
  const { customer_guid: __, ...deposit } = DEPOSIT;
  for (const valid of [buy, { ...buy, symbol: 'DOGE-USD' }, deposit])
    assert.equal((await report(valid)).status, 200);
  assertError(await report({ ...buy, symbol: undefined }), 400, 'missing_parameter', /^symbol is required/);
  assertError(await report({ ...deposit, asset: undefined }), 400, 'missing_parameter', /^asset is required/);
  assertError(
    await report({ ...buy, side: 'deposit' }),
    400,
    'invalid_parameter',
    /^side must be buy or sell/,
  );
  assertError(await report({ ...deposit, symbol: 'BTC-USD' }), 400, 'invalid_parameter', /^symbol cannot/);
});

test('a reported quote shows its times in UTC with milliseconds, whatever form they were reported in', async () => {
  const { customer_guid: _, ...buy } = BUY;
  const guid = nextGuid(app);
  const { body } = await report({ ...buy, expires_at: '2026-11-15T14:00:30.1234+02:00' }, guid);
  assert.deepEqual(
    [body.issued_at, body.expires_at],
    ['2026-11-15T12:00:00.000Z', '2026-11-15T12:00:30.123Z'],
  );
  app.clock.advance(1_000);
  const again = await report({ ...buy, expires_at: '2026-11-15t12:00:30.123z' }, guid);
  assert.deepEqual(again.body, body, 'the same time in another form is no change');
  for (const expires_at of ['2026-12-31T23:59:60Z', '2026-11-15T12:00:30+02', '2026-11-15T12:00:30'])
    assertError(
      await report({ ...buy, expires_at }),
      400,
      'invalid_parameter',
      'details.expires_at must be an ISO 8601 date-time, for example 2026-11-15T00:00:00Z',
    );
});
