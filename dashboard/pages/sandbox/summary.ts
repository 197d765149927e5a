import type { SandboxObject } from '../../api/types.ts';
import { type CustomerName, customerName } from '../../shared/text/customer-name.ts';
import { formatAmount } from '../../shared/text/format-amount.ts';
import { AMOUNTS, type Kind } from './object-kinds.ts';

export function summaryOf(kind: Kind, object: SandboxObject): string {
  const parts = kind.summary.map((name) => {
    const value = object[name];
    const asset = assetOf(object);
    if (AMOUNTS.has(name) && isAmount(value) && asset !== undefined) return formatAmount(value, asset);
    if (kind.path === 'customers' && name === 'name') return customerName(value as CustomerName | undefined);
    return typeof value === 'string' ? value.replaceAll('_', ' ') : value;
  });
  return parts.filter((part) => part !== undefined).join(' · ') || '–';
}

function isAmount(value: unknown): value is number | string {
  return typeof value === 'number' || typeof value === 'string';
}

/** The asset of an object; for a trade the traded asset, the first part of BTC-USD. */
export function assetOf({ asset, symbol }: Record<string, unknown>): string | undefined {
  if (typeof asset === 'string' && asset !== '') return asset.toUpperCase();
  return typeof symbol === 'string' ? symbol.split('-')[0]?.toUpperCase() : undefined;
}
