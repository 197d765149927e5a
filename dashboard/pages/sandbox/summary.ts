import type { SandboxObject } from '../../api/types.ts';
import { type CustomerName, customerName } from '../../shared/text/customer-name.ts';
import { formatAmount } from '../../shared/text/format-amount.ts';
import { AMOUNTS } from './fields/fields.ts';
import type { Kind } from './object-kinds.ts';

/** Words before amounts of an object that has several. */
const AMOUNT_WORDS: Record<string, string> = {
  deliver_amount: 'deliver ',
  receive_amount: 'receive ',
  fee: 'fee ',
};
const NO_BREAK = '\u00a0';
/** Fields with a fixed set of values. */
const CHOICES = new Set(['type', 'kind', 'method', 'transfer_type', 'product_type']);

export function summaryOf(kind: Kind, object: SandboxObject): string {
  const parts = kind.summary.map((name) => {
    const value = object[name];
    const asset = assetOf(name, object);
    if (AMOUNTS.has(name) && isAmount(value) && asset !== undefined)
      return `${AMOUNT_WORDS[name] ?? ''}${formatAmount(value, asset)}`.replaceAll(' ', NO_BREAK);
    if (kind.path === 'customers' && name === 'name') return customerName(value as CustomerName | undefined);
    return CHOICES.has(name) && typeof value === 'string' ? value.replaceAll('_', ' ') : value;
  });
  return parts.filter((part) => part !== undefined).join(' · ') || '–';
}

function isAmount(value: unknown): value is number | string {
  return typeof value === 'number' || typeof value === 'string';
}

/**
 * The asset of an amount. In a trade of BTC-USD the fee, what a buy delivers and what a sell receives are USD; the other
 * amounts are BTC.
 */
export function assetOf(
  amount: string,
  { asset, symbol, side }: Record<string, unknown>,
): string | undefined {
  if (typeof asset === 'string' && asset !== '') return asset.toUpperCase();
  if (typeof symbol !== 'string' || symbol === '') return undefined;
  const [base, quote] = symbol.toUpperCase().split('-');
  const paid = side === 'sell' ? 'receive_amount' : 'deliver_amount';
  return amount === 'fee' || amount === paid ? quote : base;
}
