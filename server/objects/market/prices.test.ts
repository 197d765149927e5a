import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../testing/api/answers.ts';
import { createCallers, issueToken, TOKEN_TYPES } from '../../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import { ASSETS, SYMBOLS } from './catalogue.ts';
import { createPrices } from './prices.ts';
import { sandboxPrice, sandboxPrices } from './sandbox-prices.ts';

const app = await createTestApp();
const owner = await createCallers(app);
const production = await issueToken(app, owner, 'bank', { environment: 'production' });
const sandbox = await issueToken(app, owner, 'bank');
const user = await issueToken(app, owner, 'user');

const get = (path: string, token = sandbox) => app.call({ url: `/api/${path}`, token });
const report = (symbol: string, fields: object = {}) =>
  app.operate('PUT', `/prices/${symbol}`, {
    ...{ buy_price: 101, sell_price: 99, timestamp: app.clock.now().toISOString() },
    ...fields,
  });
const bitcoin = SYMBOLS.find(({ symbol }) => symbol === 'BTC-USD') ?? assert.fail();

test('the catalogue is the same for every token', async () => {
  for (const type of TOKEN_TYPES) {
    const token = await issueToken(app, owner, type);
    const { body: assets } = await get('assets', token);
    assert.deepEqual(assets, { total: ASSETS.length, page: 0, per_page: 20, objects: ASSETS });
    const { body: symbols } = await get('symbols?page=1&per_page=10', token);
    assert.deepEqual(symbols, {
      ...{ total: SYMBOLS.length, page: 1, per_page: 10, objects: SYMBOLS.slice(10) },
    });
  }
  const codes = new Set(ASSETS.map(({ code }) => code));
  for (const { symbol, code, base_asset, quote_asset } of SYMBOLS) {
    assert.deepEqual([symbol, code], [`${base_asset}-${quote_asset}`, symbol]);
    assert.ok(codes.has(base_asset) && codes.has(quote_asset));
  }
});

test('a symbol has the fields of an asset: its code, name and the decimals of its prices', async () => {
  const symbols = objectsOf(await get('symbols'));
  assert.deepEqual(symbols[0], {
    ...{ symbol: 'BTC-USD', code: 'BTC-USD', name: 'Bitcoin in US dollars', decimals: 2 },
    ...{ base_asset: 'BTC', quote_asset: 'USD' },
  });
  const assets = new Map(objectsOf(await get('assets')).map(({ code, decimals }) => [code, decimals]));
  for (const { name, decimals, quote_asset } of symbols) {
    assert.match(String(name), /^[A-Z]\w+( \w+)? in (US dollars|Canadian dollars|euros|pounds sterling)$/);
    assert.equal(decimals, assets.get(quote_asset));
  }
});

test('sandbox prices are a function of the time', async () => {
  const answer = await get('prices?symbol=BTC-USD,ETH-EUR');
  const { body } = answer;
  assert.deepEqual((await get('prices?symbol=ETH-EUR,BTC-USD,BTC-USD')).body, body);
  const now = app.clock.now();
  const { buy, sell, at } = sandboxPrice(bitcoin, now);
  const timestamp = at.toISOString();
  assert.deepEqual(objectsOf(answer)[0], {
    ...{
      symbol: 'BTC-USD',
      environment: 'sandbox',
      buy_price: Number(buy),
      sell_price: Number(sell),
      timestamp,
    },
    ...{ buy_price_last_updated_at: timestamp, sell_price_last_updated_at: timestamp },
  });
  assert.ok(at <= now && now.getTime() - at.getTime() < 5_000);
  app.clock.advance(5_000);
  assert.notDeepEqual((await get('prices?symbol=BTC-USD,ETH-EUR')).body, body);
});

test('sandbox prices stay near their base, change by little and have a spread', () => {
  const start = Date.parse('2026-11-15T00:00:00Z');
  for (const symbol of SYMBOLS) {
    const prices = Array.from({ length: 2_000 }, (_, step) =>
      sandboxPrice(symbol, new Date(start + step * 5_000)),
    );
    const buys = prices.map(({ buy }) => Number(buy));
    assert.ok(Math.max(...buys) <= Math.min(...buys) * 1.11, symbol.symbol);
    for (const [index, { buy, sell }] of prices.entries()) {
      assert.ok(buy > sell && sell > 0n, symbol.symbol);
      const before = Number(prices[index - 1]?.buy ?? buy);
      assert.ok(Math.abs(Number(buy) - before) <= Math.max(1, before * 0.01), symbol.symbol);
    }
  }
  assert.deepEqual(
    sandboxPrices(undefined, new Date(start)),
    sandboxPrices(undefined, new Date(start + 4_999)),
  );
});

test('sandbox prices need no query', async () => {
  const database = new Proxy({} as Database, { get: () => assert.fail('used the database') });
  const prices = createPrices({ database, clock: createFakeClock() });
  const found = await prices.list({ organizationGuid: owner.organizationGuid, environment: 'sandbox' }, {});
  assert.equal((found as unknown[]).length, SYMBOLS.length);
});

test('production has the prices that were reported; an older report does not replace a newer one', async () => {
  assert.deepEqual((await get('prices', production)).body.objects, []);
  const timestamp = app.clock.now().toISOString();
  const { status, body } = await report('BTC-USD', { buy_price: '90071992547409930', sell_price: 7 });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body, {
    ...{
      symbol: 'BTC-USD',
      environment: 'production',
      buy_price: '90071992547409930',
      sell_price: 7,
      timestamp,
    },
    ...{ buy_price_last_updated_at: timestamp, sell_price_last_updated_at: timestamp },
  });
  const older = new Date(app.clock.now().getTime() - 1).toISOString();
  for (const late of [older, timestamp])
    assert.deepEqual((await report('BTC-USD', { buy_price: 999, timestamp: late })).body, body);
  assert.deepEqual((await get('prices?symbol=BTC-USD,SOL-CAD', production)).body.objects, [body]);
  app.clock.advance(1);
  assert.equal((await report('BTC-USD')).body.buy_price, 101);
});

test('concurrent reports leave the newest price', async () => {
  const start = app.clock.now().getTime() - 20;
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      report('SOL-USD', { buy_price: 1_000 + index, timestamp: new Date(start + index).toISOString() }),
    ),
  );
  const [price] = objectsOf(await get('prices?symbol=SOL-USD', production));
  assert.equal(price?.buy_price, 1_019);
});

test('the environment of the token or of the filter decides', async () => {
  await report('ETH-USD');
  const environmentsOf = async (path: string, token: string) =>
    objectsOf(await get(path, token)).map(({ environment }) => environment);
  assert.deepEqual(await environmentsOf('prices?symbol=ETH-USD', user), ['production', 'sandbox']);
  assert.deepEqual(await environmentsOf('prices?symbol=ETH-USD&environment=sandbox', user), ['sandbox']);
  assert.deepEqual(await environmentsOf('prices?symbol=ETH-USD&environment=production', sandbox), []);
});

test('an unknown symbol is refused with the accepted ones', async () => {
  for (const [symbol, message] of [
    ['BTC', /^symbol must be one of BTC-USD, BTC-CAD, /],
    ['BTC-USD,DOGE-USD', /^symbol must be one of BTC-USD, BTC-CAD, /],
    ['btc-usd', /^symbol must be one of BTC-USD, BTC-CAD, /],
    [',', /^symbol must be a text, or several separated by commas, none of them empty$/],
  ] as const)
    for (const token of [sandbox, production, user])
      assertError(await get(`prices?symbol=${symbol}`, token), 400, 'invalid_parameter', message);
});

test('a wrong report is refused', async () => {
  assertError(await report('DOGE-USD'), 404, 'not_found', /BTC-USD/);
  assertError(await report('BTC-USD', { buy_price: 98 }), 400, 'invalid_parameter', /^buy_price /);
  for (const price of [0, -1, 1.5, '01', 2 ** 53])
    assertError(await report('BTC-USD', { sell_price: price }), 400, 'invalid_parameter', /^sell_price /);
  const future = new Date(app.clock.now().getTime() + 60_001).toISOString();
  for (const timestamp of [future, 'now', '2026-11-15'])
    assertError(await report('BTC-USD', { timestamp }), 400, 'invalid_parameter', /^timestamp /);
  // In the format of RFC 3339, but not readable as a Date.
  for (const timestamp of ['2016-12-31T23:59:60Z', '2026-11-15\u202812:00:00Z', '2026-11-15T12:00:00+01'])
    assertError(
      await report('BTC-USD', { timestamp }),
      400,
      'invalid_parameter',
      'timestamp must be an ISO 8601 date-time, for example 2026-11-15T00:00:00Z',
    );
});

test('prices need the scope prices:read', async () => {
  const token = await issueToken(app, owner, 'bank', { scopes: ['quotes:read'] });
  for (const path of ['prices', 'assets', 'symbols'])
    assertError(await get(path, token), 403, 'invalid_scopes', /prices:read$/);
});
