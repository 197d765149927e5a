export type Asset = { code: string; name: string; decimals: number; type: 'fiat' | 'crypto' };
export type TradingSymbol = { symbol: string; base_asset: string; quote_asset: string };

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

/** Every crypto asset in every fiat asset. */
export const SYMBOLS: readonly TradingSymbol[] = codesOf('crypto').flatMap((base) =>
  codesOf('fiat').map((quote) => ({ symbol: `${base}-${quote}`, base_asset: base, quote_asset: quote })),
);

function codesOf(type: Asset['type']): string[] {
  return ASSETS.filter((asset) => asset.type === type).map(({ code }) => code);
}
