import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { List } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { formatAmount } from '../../../shared/text/format-amount.ts';
import { type Field, INPUT_ORDER } from './fields.ts';

/** A string beyond 2^53 - 1. */
type Units = number | string;
type Price = { symbol: string; buy_price: Units; sell_price: Units };
/** Sandbox prices change every five seconds. */
const REFRESH_MS = 5_000;

/** Offers the symbols and shows the price of the selected one. */
export function SymbolField({
  field: { label, required },
  value,
  error,
  onChange,
}: {
  field: Field;
  value: string;
  error: React.ReactNode;
  onChange: (value: string) => void;
}) {
  const { api } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/prices'],
    queryFn: ({ signal }) =>
      api.get<List<Price>>('/prices', { query: { environment: 'sandbox', per_page: 100 }, signal }),
    refetchInterval: REFRESH_MS,
  });
  const prices = data?.objects ?? [];
  const price = prices.find(({ symbol }) => symbol === value);
  return (
    <Select
      label={label}
      required={required}
      error={error}
      clearable={!required}
      searchable
      inputWrapperOrder={INPUT_ORDER}
      description={price ? describe(price) : 'Buy and sell price of the symbol'}
      data={prices.map(({ symbol }) => symbol)}
      value={value === '' ? null : value}
      onChange={(chosen) => onChange(chosen ?? '')}
    />
  );
}

function describe({ symbol, buy_price, sell_price }: Price): string {
  const [base, asset = ''] = symbol.split('-');
  return `1 ${base}: buy at ${formatAmount(buy_price, asset)}, sell at ${formatAmount(sell_price, asset)}`;
}
