import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { List, SandboxObject } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

export type QuoteState = 'open' | 'used' | 'expired';

/** The trade or transfer that used each quote; undefined until known. */
export function useQuoteUses(
  quotes: readonly SandboxObject[],
  refetchInterval: number,
): ReadonlyMap<string, SandboxObject> | undefined {
  const isTrading = ({ product_type }: SandboxObject) => product_type === 'trading';
  const trades = useUses('/trades', quotes.filter(isTrading), refetchInterval);
  const transfers = useUses(
    '/transfers',
    quotes.filter((quote) => !isTrading(quote)),
    refetchInterval,
  );
  return (
    trades && transfers && new Map([...trades, ...transfers].map((use) => [String(use.quote_guid), use]))
  );
}

function useUses(path: string, quotes: readonly SandboxObject[], refetchInterval: number) {
  const { api } = useWorkspace();
  const guids = quotes.map(({ guid }) => guid);
  const enabled = guids.length > 0;
  const { data } = useQuery({
    queryKey: [api.key, path, 'of quotes', guids],
    queryFn: ({ signal }) =>
      api.get<List<SandboxObject>>(path, {
        query: { quote_guid: guids.join(','), per_page: guids.length },
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval,
    enabled,
  });
  return enabled ? data?.objects : [];
}

export function quoteState(
  { guid, expires_at }: SandboxObject,
  used: ReadonlyMap<string, SandboxObject> | undefined,
  now: number,
): QuoteState | undefined {
  if (used?.has(guid)) return 'used';
  if (Date.parse(String(expires_at)) <= now) return 'expired';
  return used && 'open';
}
