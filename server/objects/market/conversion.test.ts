import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ASSETS, SYMBOLS } from './catalogue.ts';
import { buy, type Exchange, sell, transfer } from './conversion.ts';

/** Rounding never favours the customer, whichever amount was given. */
const units = fc.bigInt({ min: 1n, max: 10n ** 38n - 1n });
const points = fc.bigInt({ min: 0n, max: 9_999n });
const prices = fc.bigInt({ min: 1n, max: 10n ** 12n });
const symbols = fc.constantFrom(...SYMBOLS);
const given = fc.oneof(fc.record({ deliver: units }), fc.record({ receive: units }));
const RUNS = { numRuns: 1_000 };

function assertPlausible({ deliver, receive, fee }: Exchange, amount: object): void {
  assert.ok(deliver > 0n && receive >= 0n && fee >= 0n);
  assert.partialDeepStrictEqual({ deliver, receive }, amount, 'the given amount is unchanged');
}

/** Whether `fee` is at least the rate of `gross`. */
const isWholeFee = (fee: bigint, gross: bigint, rate: bigint) => fee * 10_000n >= gross * rate;
const wholeUnitOf = (code: string) =>
  10n ** BigInt(ASSETS.find((asset) => asset.code === code)?.decimals ?? 0);

test('a purchase costs at least its price and its fee', () => {
  fc.assert(
    fc.property(symbols, prices, points, given, (symbol, price, rate, amount) => {
      const exchange = buy(
        symbol,
        { symbol: symbol.symbol, buy: price, sell: price, at: new Date(0) },
        rate,
        amount,
      );
      const { deliver, receive, fee } = exchange;
      assertPlausible(exchange, amount);
      assert.ok((deliver - fee) * wholeUnitOf(symbol.base_asset) >= receive * price);
      assert.ok(isWholeFee(fee, deliver, rate));
    }),
    RUNS,
  );
});

test('a sale pays at most its price less its fee', () => {
  fc.assert(
    fc.property(symbols, prices, points, given, (symbol, price, rate, amount) => {
      const exchange = sell(
        symbol,
        { symbol: symbol.symbol, buy: price, sell: price, at: new Date(0) },
        rate,
        amount,
      );
      const { deliver, receive, fee } = exchange;
      assertPlausible(exchange, amount);
      assert.ok(deliver * price >= (receive + fee) * wholeUnitOf(symbol.base_asset));
      assert.ok(isWholeFee(fee, receive + fee, rate));
    }),
    RUNS,
  );
});

test('a transfer delivers what it receives and its fee', () => {
  fc.assert(
    fc.property(points, given, (rate, amount) => {
      const exchange = transfer(rate, amount);
      assertPlausible(exchange, amount);
      assert.equal(exchange.deliver, exchange.receive + exchange.fee);
      assert.ok(isWholeFee(exchange.fee, exchange.deliver, rate));
    }),
    RUNS,
  );
});

test('a purchase and the sale of what it received never gain', () => {
  fc.assert(
    fc.property(symbols, prices, prices, points, units, (symbol, one, other, rate, deliver) => {
      const [low, high] = one < other ? [one, other] : [other, one];
      const price = { symbol: symbol.symbol, buy: high, sell: low, at: new Date(0) };
      const { receive } = buy(symbol, price, rate, { deliver });
      if (receive > 0n) assert.ok(sell(symbol, price, rate, { deliver: receive }).receive <= deliver);
    }),
    RUNS,
  );
});
