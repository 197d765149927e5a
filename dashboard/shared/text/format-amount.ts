/** Decimal places of assets that Intl does not know as currencies. */
const CRYPTO_DIGITS: Record<string, number> = { BTC: 8, ETH: 18, SOL: 9, USDC: 6, USDT: 6 };

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

/** "$1,250.00", "0.005 BTC"; "1,000 units of XYZ" for an unknown asset. Exact for amounts of any size. */
export function formatAmount(units: number | string, asset: string): string {
  if (CURRENCIES.has(asset)) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency: asset });
    return format.format(decimal(units, format.resolvedOptions().maximumFractionDigits ?? 0));
  }
  const digits = CRYPTO_DIGITS[asset];
  const format = new Intl.NumberFormat('en', { maximumFractionDigits: digits ?? 0 });
  const amount = format.format(decimal(units, digits ?? 0));
  return digits === undefined ? `${amount} units of ${asset}` : `${amount} ${asset}`;
}

/** As text, which Intl formats exactly where a number would be rounded. */
function decimal(units: number | string, digits: number): Intl.StringNumericLiteral {
  const text = String(units).padStart(digits + 1, '0');
  const point = text.length - digits;
  return `${text.slice(0, point)}.${text.slice(point)}` as Intl.StringNumericLiteral;
}
