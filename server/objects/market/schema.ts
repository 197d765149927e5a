import Type, { type Static } from 'typebox';
import { DATE_TIME_PATTERN } from '../../infrastructure/http/requests/filters.ts';
import {
  EnvironmentName,
  inputSchema,
  strictObject,
  Timestamp,
  viewSchema,
} from '../../infrastructure/http/requests/schemas.ts';
import { TradedSymbol } from '../details.ts';
import { Amount, fromUnits, toUnits } from '../money.ts';
import type { ListedPrice } from './prices.ts';
import type { Price } from './sandbox-prices.ts';

const UNIT = 'in the smallest unit of the quote asset, for one whole unit of the base asset';
const prices = {
  buy_price: { ...Amount, description: `The price at which customers buy, ${UNIT}`, example: 9_523_750 },
  sell_price: { ...Amount, description: `The price at which customers sell, ${UNIT}`, example: 9_476_250 },
};

export const SymbolView = viewSchema('Symbol', {
  symbol: TradedSymbol,
  code: { ...TradedSymbol, description: 'The same as symbol' },
  name: Type.String({ example: 'Bitcoin in US dollars' }),
  decimals: Type.Integer({ description: 'Of the quote asset, in which prices are given', example: 2 }),
  base_asset: Type.String({ description: 'The traded asset', example: 'BTC' }),
  quote_asset: Type.String({ description: 'The asset that pays for it', example: 'USD' }),
});

export const AssetView = viewSchema('AssetDescription', {
  code: Type.String({ example: 'BTC' }),
  name: Type.String({ example: 'Bitcoin' }),
  decimals: Type.Integer({
    description: 'Digits after the decimal point: one whole unit is 10 to this power of the smallest unit',
    example: 8,
  }),
  type: Type.Enum(['fiat', 'crypto'], { description: 'fiat or crypto' }),
});

export const PriceView = viewSchema('Price', {
  symbol: TradedSymbol,
  environment: EnvironmentName,
  ...prices,
  timestamp: { ...Timestamp, description: 'When the price was last updated' },
  buy_price_last_updated_at: { ...Timestamp, description: 'The same as timestamp' },
  sell_price_last_updated_at: { ...Timestamp, description: 'The same as timestamp' },
});

export const SymbolParams = strictObject({ symbol: TradedSymbol });
export const PriceReport = inputSchema('PriceReport', {
  ...prices,
  timestamp: Type.String({
    format: 'date-time',
    pattern: DATE_TIME_PATTERN,
    description: 'When the core platform set the price. An older report does not replace a newer one',
    example: '2026-11-15T12:00:00.000Z',
  }),
});

export function viewPrice({ symbol, environment, buy, sell, at }: ListedPrice): Static<typeof PriceView> {
  const timestamp = at.toISOString();
  return {
    ...{ symbol, environment, buy_price: fromUnits(buy), sell_price: fromUnits(sell), timestamp },
    ...{ buy_price_last_updated_at: timestamp, sell_price_last_updated_at: timestamp },
  };
}

export function reportedPrice(symbol: string, report: Static<typeof PriceReport>): Price {
  const { buy_price, sell_price, timestamp } = report;
  return { symbol, buy: toUnits(buy_price), sell: toUnits(sell_price), at: new Date(timestamp) };
}
