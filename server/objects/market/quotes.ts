import Type from 'typebox';
import { DATE_TIME_PATTERN } from '../../infrastructure/http/requests/filters.ts';
import { strictObject, Timestamp } from '../../infrastructure/http/requests/schemas.ts';
import { later } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import { Asset, TRANSFER_TYPES, TradedSymbol } from '../details.ts';
import type { Details } from '../machine.ts';
import { Amount, Balance, fromUnits, toUnits, type Units } from '../money.ts';
import { ASSETS, SYMBOLS } from './catalogue.ts';
import * as conversion from './conversion.ts';
import { sandboxPrice } from './sandbox-prices.ts';

const QUOTE_LIFETIME_MS = 30_000;
export const MAX_UNITS = 10n ** 38n - 1n;
export const TRADING = 'trading';
const SIDES = { trading: ['buy', 'sell'], transfer: ['deposit', 'withdrawal'] } as const;

/** The fees of the sandbox, in hundredths of a percent. */
const FEE_BASIS_POINTS: Readonly<Record<string, bigint>> = {
  trading: 50n,
  funding: 10n,
  book: 0n,
  crypto: 25n,
  instant_funding: 100n,
};

const terms = {
  product_type: Type.Enum([TRADING, ...TRANSFER_TYPES], {
    description: `${TRADING}, or the transfer_type of a transfer`,
  }),
  side: Type.Enum([...SIDES.trading, ...SIDES.transfer], {
    description: 'buy or sell for trading, deposit or withdrawal for transfers',
  }),
  symbol: Type.Optional({ ...TradedSymbol, description: 'For trading: the symbol of the trade' }),
  asset: Type.Optional({ ...Asset, description: 'For transfers: the asset of the transfer' }),
};
const Delivered = { ...Amount, description: 'What the customer delivers, in the smallest unit of its asset' };
const Received = { ...Amount, description: 'What the customer receives, in the smallest unit of its asset' };

export const newQuote = strictObject(
  {
    ...terms,
    deliver_amount: Type.Optional({
      ...Delivered,
      description: `${Delivered.description}; or receive_amount`,
    }),
    receive_amount: Type.Optional({ ...Received, description: `${Received.description}; or deliver_amount` }),
  },
  { example: { product_type: TRADING, side: 'buy', symbol: 'BTC-USD', deliver_amount: 250_000 } },
);

const EXPIRY = 'From then on the quote cannot be used';
const ReportedTime = Type.String({
  format: 'date-time',
  pattern: DATE_TIME_PATTERN,
  description: 'ISO 8601 date-time',
  example: '2026-11-15T12:00:00.000Z',
});

export const quote = strictObject(
  {
    ...terms,
    deliver_amount: Delivered,
    receive_amount: Received,
    fee: {
      ...Balance,
      description:
        'Included in the amounts, in the smallest unit of the quote asset (trading) or of the asset (transfers)',
    },
    issued_at: ReportedTime,
    expires_at: { ...ReportedTime, description: EXPIRY, example: '2026-11-15T12:00:30.000Z' },
  },
  {
    example: {
      ...{ product_type: TRADING, side: 'buy', symbol: 'BTC-USD' },
      ...{ deliver_amount: 250_000, receive_amount: 2_611_837, fee: 1_250 },
      ...{ issued_at: '2026-11-15T12:00:00.000Z', expires_at: '2026-11-15T12:00:30.000Z' },
    },
  },
);

/** The core may report times in any form of ISO 8601. Rows of earlier versions have them as they were reported. */
export const timeForms = {
  view: { issued_at: Timestamp, expires_at: { ...Timestamp, description: EXPIRY } },
  store: withTimesInUtc,
  show: withTimesInUtc,
};

function withTimesInUtc(details: Details): Details {
  const times = Object.keys(timeForms.view).filter((name) => name in details);
  return { ...details, ...Object.fromEntries(times.map((name) => [name, inUtc(String(details[name]))])) };
}

function inUtc(time: string): string {
  const date = new Date(time);
  // An earlier version accepted leap seconds.
  return Number.isNaN(date.getTime()) ? time : date.toISOString();
}

type NewQuote = {
  product_type: string;
  side: string;
  symbol?: string;
  asset?: string;
  deliver_amount?: Units;
  receive_amount?: Units;
};

/** The other amount, the fee and the times of a new quote, by the prices of the sandbox. */
export function completeQuote(input: Details, now: Date): Details | Failure {
  const given = input as NewQuote;
  const refusal = refuseTerms(input) ?? refuseUnknown(given) ?? refuseAmounts(given);
  if (refusal) return refusal;
  const { deliver, receive, fee } = exchangeOf(given, now);
  const field = given.deliver_amount === undefined ? 'receive_amount' : 'deliver_amount';
  if (receive <= 0n)
    return new Failure('amount_out_of_range', `${field} is too small: receive_amount would be 0`);
  if (deliver > MAX_UNITS || receive > MAX_UNITS)
    return new Failure('amount_out_of_range', `${field} is too large: an amount would have over 38 digits`);
  return {
    ...given,
    ...{ deliver_amount: fromUnits(deliver), receive_amount: fromUnits(receive), fee: fromUnits(fee) },
    issued_at: now.toISOString(),
    expires_at: later(now, QUOTE_LIFETIME_MS).toISOString(),
  };
}

/** For reports too: a trade or transfer on a quote without these fields could not be shown. */
export function refuseTerms(quote: Details): Failure | undefined {
  const { product_type, side, symbol, asset } = quote as NewQuote;
  const isTrading = product_type === TRADING;
  const [name, value, other] = isTrading
    ? (['symbol', symbol, asset === undefined ? undefined : 'asset'] as const)
    : (['asset', asset, symbol === undefined ? undefined : 'symbol'] as const);
  const words = `when product_type is ${product_type}`;
  if (value === undefined) return new Failure('missing_parameter', `${name} is required ${words}`);
  if (other) return new Failure('invalid_parameter', `${other} cannot be given ${words}`);
  const sides: readonly string[] = isTrading ? SIDES.trading : SIDES.transfer;
  return sides.includes(side)
    ? undefined
    : new Failure('invalid_parameter', `side must be ${sides.join(' or ')} ${words}`);
}

/** The sandbox has prices of the catalogue only. */
function refuseUnknown({ product_type, symbol, asset }: NewQuote): Failure | undefined {
  const isTrading = product_type === TRADING;
  const [name, value] = isTrading ? ['symbol', symbol] : ['asset', asset];
  const accepted = isTrading ? SYMBOLS.map((each) => each.symbol) : ASSETS.map(({ code }) => code);
  return accepted.includes(String(value))
    ? undefined
    : new Failure('invalid_parameter', `${name} must be one of ${accepted.join(', ')}`);
}

function refuseAmounts({ deliver_amount, receive_amount }: NewQuote): Failure | undefined {
  if (deliver_amount === undefined && receive_amount === undefined)
    return new Failure('missing_parameter', 'deliver_amount or receive_amount is required');
  return deliver_amount === undefined || receive_amount === undefined
    ? undefined
    : new Failure('invalid_parameter', 'deliver_amount and receive_amount cannot be combined');
}

function exchangeOf(given: NewQuote, now: Date): conversion.Exchange {
  const fee = FEE_BASIS_POINTS[given.product_type] ?? 0n;
  const amount =
    given.deliver_amount === undefined
      ? { receive: toUnits(given.receive_amount as Units) }
      : { deliver: toUnits(given.deliver_amount) };
  const symbol = SYMBOLS.find((each) => each.symbol === given.symbol);
  if (!symbol) return conversion.transfer(fee, amount);
  const exchange = given.side === 'buy' ? conversion.buy : conversion.sell;
  return exchange(symbol, sandboxPrice(symbol, now), fee, amount);
}
