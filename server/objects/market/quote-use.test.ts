import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createCallers, createSiblings, issueToken, TOKEN_TYPES } from '../../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createCustomer } from '../../../testing/objects/customers.ts';
import { reportObject } from '../../../testing/objects/objects.ts';
import type { TokenType } from '../../tokens/claims.ts';

/** `quote_guid` of trades and transfers. */
const app = await createTestApp();
const other = await createTestApp({ testDatabase: app.testDatabase, clock: app.clock });
const owner = await createCallers(app);
const siblings = await createSiblings(app, owner);
const bank_guid = owner.bankGuid;
const customer_guid = owner.customerGuid;
const TRADING = { product_type: 'trading', side: 'buy', symbol: 'BTC-USD', deliver_amount: 100_000 };
const FUNDING = { product_type: 'funding', side: 'deposit', asset: 'USD', deliver_amount: 10_000 };
const LIFETIME_MS = 30_000;

async function create(plural: string, payload: object, holder: TokenType = 'bank', on = app) {
  const token = await issueToken(app, owner, holder);
  return on.call({ method: 'POST', url: `/api/${plural}`, token, payload });
}

async function quoteOf(fields: object = TRADING) {
  const { status, body } = await create('quotes', { customer_guid, ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

test('a trade takes its fields from the quote; amount is in the traded asset', async () => {
  for (const holder of TOKEN_TYPES)
    for (const side of ['buy', 'sell']) {
      const quote = await quoteOf({ ...TRADING, side, deliver_amount: 1_000_000 });
      const { guid: quote_guid, deliver_amount, receive_amount, fee } = quote;
      const { status, body } = await create('trades', { quote_guid, bank_guid, labels: ['mine'] }, holder);
      assert.equal(status, 201, JSON.stringify(body));
      const { guid: _, ...rest } = body;
      const now = app.clock.now().toISOString();
      assert.deepEqual(rest, {
        ...{ organization_guid: owner.organizationGuid, bank_guid, customer_guid, environment: 'sandbox' },
        ...{ state: 'storing', side, symbol: 'BTC-USD', deliver_amount, receive_amount, fee, quote_guid },
        amount: side === 'buy' ? receive_amount : deliver_amount,
        ...{ labels: ['mine'], created_at: now, updated_at: now },
      });
    }
});

test('a transfer takes its fields from the quote; amount is what the customer delivers', async () => {
  const { guid: quote_guid, receive_amount, fee } = await quoteOf(FUNDING);
  const destination_account_guid = await reportObject(app, 'account', owner);
  const { status, body } = await create('transfers', { quote_guid, destination_account_guid });
  assert.equal(status, 201, JSON.stringify(body));
  assert.partialDeepStrictEqual(body, {
    ...{ transfer_type: 'funding', asset: 'USD', side: 'deposit', amount: 10_000, quote_guid },
    ...{ deliver_amount: 10_000, receive_amount, fee, destination_account_guid, customer_guid },
  });
});

test('a field that the quote determines is refused beside it', async () => {
  const { guid: quote_guid } = await quoteOf();
  for (const [plural, field, value] of [
    ['trades', 'side', 'buy'],
    ['trades', 'symbol', 'BTC-USD'],
    ['trades', 'amount', 1],
    ['trades', 'deliver_amount', 1],
    ['trades', 'receive_amount', 1],
    ['trades', 'fee', 1],
    ['transfers', 'transfer_type', 'funding'],
    ['transfers', 'asset', 'USD'],
    ['transfers', 'amount', 1],
    ['transfers', 'side', 'deposit'],
    ['transfers', 'deliver_amount', 1],
  ] as const)
    assertError(
      await create(plural, { quote_guid, [field]: value }),
      400,
      'invalid_parameter',
      new RegExp(`^${field} `),
    );
  assert.equal((await create('trades', { quote_guid })).status, 201, 'a refusal does not use the quote');
});

test('without a quote the fields are required as before', async () => {
  const full = { side: 'buy', symbol: 'BTC-USD', amount: 1, customer_guid };
  for (const field of ['side', 'symbol', 'amount'])
    for (const absent of [undefined, null])
      assertError(
        await create('trades', { ...full, [field]: absent }),
        400,
        'missing_parameter',
        `${field} is required`,
      );
  assertError(
    await create('transfers', { customer_guid }),
    400,
    'missing_parameter',
    'transfer_type is required',
  );
  assert.equal((await create('trades', { ...full, quote_guid: null })).status, 201);
});

test('the quote must be of the bank, the customer and the product', async () => {
  const { guid: quote_guid } = await quoteOf();
  const { guid: funding } = await quoteOf(FUNDING);
  const refused = async (plural: string, payload: object, message: RegExp, holder?: TokenType) =>
    assertError(await create(plural, payload, holder), 422, 'no_object', message);
  await refused('trades', { quote_guid: funding }, /^quote_guid .* trading quote; .* is funding$/);
  await refused('transfers', { quote_guid }, /^quote_guid .* transfer quote; .* is trading$/);
  const foreign = await reportObject(app, 'quote', siblings);
  for (const guid of [foreign, owner.customerGuid, '0'.repeat(32)])
    await refused('trades', { quote_guid: guid }, /^quote_guid must be the guid of a quote of this bank$/);
  const another = await createCustomer(app, owner.bankGuid);
  await refused('trades', { quote_guid, customer_guid: another }, /^quote_guid .* of this customer$/);
  const hidden = await quoteOf({ ...TRADING, customer_guid: another });
  await refused('trades', { quote_guid: hidden.guid }, /^quote_guid /, 'customer');
  assert.equal((await create('trades', { quote_guid, customer_guid })).status, 201);
});

test('an expired quote cannot be used', async () => {
  const [first, second] = [await quoteOf(), await quoteOf(FUNDING)];
  app.clock.advance(LIFETIME_MS - 1);
  assert.equal((await create('trades', { quote_guid: first.guid })).status, 201);
  app.clock.advance(1);
  assertError(
    await create('transfers', { quote_guid: second.guid }),
    422,
    'quote_expired',
    `The quote expired at ${second.expires_at}; create another`,
  );
});

test('the expiry of a quote from an earlier version is shown in UTC', async () => {
  const { guid: quote_guid } = await quoteOf();
  await sql`
    update objects set details = details || '{"expires_at": "2020-01-01T02:00:00+02:00"}'
    where guid = ${quote_guid}`.execute(app.database.queries);
  const message = 'The quote expired at 2020-01-01T00:00:00.000Z; create another';
  assertError(await create('trades', { quote_guid }), 422, 'quote_expired', message);
});

test('a used quote is refused as used, also after its expiry and on another node', async () => {
  const [used, unused] = [await quoteOf(), await quoteOf()];
  assert.equal((await create('trades', { quote_guid: used.guid })).status, 201);
  for (const ms of [0, LIFETIME_MS, 24 * 60 * LIFETIME_MS]) {
    app.clock.advance(ms);
    const answer = await create('trades', { quote_guid: used.guid }, 'bank', other);
    assertError(answer, 409, 'quote_used', 'The quote was used already; create another');
  }
  assertError(await create('trades', { quote_guid: unused.guid }), 422, 'quote_expired');
});

test('a repeat with the same idempotency key returns the trade, also after the expiry', async () => {
  const { guid: quote_guid } = await quoteOf();
  const token = await issueToken(app, owner, 'bank');
  const send = (key: string) =>
    app.call({
      ...{ method: 'POST', url: '/api/trades', token, payload: { quote_guid } },
      headers: { 'idempotency-key': key },
    });
  const first = await send('first');
  assert.equal(first.status, 201);
  for (const ms of [0, LIFETIME_MS]) {
    app.clock.advance(ms);
    const repeat = await send('first');
    assert.deepEqual(
      [repeat.status, repeat.body, repeat.headers['idempotency-replayed']],
      [201, first.body, 'true'],
    );
    assertError(await send('second'), 409, 'quote_used');
  }
});

test('a quote can be used once', async () => {
  for (const [plural, fields] of [
    ['trades', TRADING],
    ['transfers', FUNDING],
  ] as const) {
    const { guid: quote_guid } = await quoteOf(fields);
    assert.equal((await create(plural, { quote_guid })).status, 201);
    assertError(await create(plural, { quote_guid }), 409, 'quote_used', /^The quote was used already/);
  }
});

test('of concurrent trades on one quote exactly one succeeds', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { guid: quote_guid } = await quoteOf();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        create('trades', { quote_guid }, 'bank', index % 2 === 0 ? app : other),
      ),
    );
    const lost = answers.filter(({ status }) => status !== 201);
    assert.equal(lost.length, 11);
    for (const answer of lost) assertError(answer, 409, 'quote_used');
    const rows = await app.database.queries
      .selectFrom('objects')
      .select(({ fn }) => fn.countAll<number>().as('trades'))
      .where('type', '=', 'trade')
      .where((where) => where(where.ref('details', '->>').key('quote_guid'), '=', String(quote_guid)))
      .execute();
    assert.deepEqual(rows, [{ trades: 1 }]);
  }
});
