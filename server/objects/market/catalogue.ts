export type Asset = { code: string; name: string; decimals: number; type: 'fiat' | 'crypto' };
export type TradingSymbol = {
  symbol: string;
  /** The same as the symbol, as assets have it. */
  code: string;
  name: string;
  /** Of the quote asset, in which prices are given. */
  decimals: number;
  base_asset: string;
  quote_asset: string;
};

export const ASSETS: readonly Asset[] = [
  { code: 'USD', name: 'US dollar', decimals: 2, type: 'fiat' },
  { code: 'CAD', name: 'Canadian dollar', decimals: 2, type: 'fiat' },
  { code: 'EUR', name: 'Euro', decimals: 2, type: 'fiat' },
  { code: 'GBP', name: 'Pound sterling', decimals: 2, type: 'fiat' },
  { code: 'BTC', name: 'Bitcoin', decimals: 8, type: 'crypto' },
  { code: 'ETH', name: 'Ether', decimals: 18, type: 'crypto' },
  { code: 'USDC', name: 'USD Coin', decimals: 6, type: 'crypto' },
  { code: 'SOL', name: 'Solana', decimals: 9, type: 'crypto' },
];

/** For names such as "Bitcoin in US dollars". */
const PLURALS: Readonly<Record<string, string>> = {
  USD: 'US dollars',
  CAD: 'Canadian dollars',
  EUR: 'euros',
  GBP: 'pounds sterling',
};

/** Every crypto asset in every fiat asset. */
export const SYMBOLS: readonly TradingSymbol[] = assetsOf('crypto').flatMap((base) =>
  assetsOf('fiat').map((quote) => ({
    symbol: `${base.code}-${quote.code}`,
    code: `${base.code}-${quote.code}`,
    name: `${base.name} in ${PLURALS[quote.code]}`,
    decimals: quote.decimals,
    base_asset: base.code,
    quote_asset: quote.code,
  })),
);

function assetsOf(type: Asset['type']): Asset[] {
  return ASSETS.filter((asset) => asset.type === type);
}
