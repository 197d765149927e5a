/** Decimal places of assets that Intl does not know as currencies. */
const CRYPTO_DIGITS: Record<string, number> = { BTC: 8, ETH: 18, SOL: 9, USDC: 6, USDT: 6 };

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

/** "$1,250.00", "0.005 BTC"; "1,000 units of XYZ" for an unknown asset. */
export function formatAmount(units: number, asset: string): string {
  if (CURRENCIES.has(asset)) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency: asset });
    return format.format(units / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 0));
  }
  const digits = CRYPTO_DIGITS[asset];
  if (digits === undefined) return `${units.toLocaleString('en')} units of ${asset}`;
  return `${(units / 10 ** digits).toLocaleString('en', { maximumFractionDigits: digits })} ${asset}`;
}
