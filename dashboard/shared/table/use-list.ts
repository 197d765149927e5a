import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { Query } from '../../api/send.ts';
import type { List } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { resolveTimes } from '../filters/time-range.ts';
import { usePageSize } from './use-page-size.ts';

/** The API list of a table, without its page: what an export reads. */
export type ListSource = { path: string; query: Query };

type Shown = 'data' | 'error' | 'isPending' | 'isPlaceholderData' | 'refetch';
export type ListResult<Item> = Pick<UseQueryResult<List<Item>>, Shown> & { source?: ListSource };

type ListOptions<Item> = {
  /** In ms; may depend on the last result. */
  refetchInterval?: number | ((list: List<Item> | undefined) => number);
  enabled?: boolean;
};

/** One page of an API list. The previous page stays visible while the next one loads. */
export function useList<Item>(
  path: string,
  query: Query,
  { refetchInterval, enabled = true }: ListOptions<Item> = {},
): ListResult<Item> {
  const { api } = useWorkspace();
  const [pageSize] = usePageSize();
  const { data, error, isPending, isPlaceholderData, refetch } = useQuery({
    queryKey: [api.key, path, query, pageSize],
    queryFn: ({ signal }) =>
      api.get<List<Item>>(path, {
        query: { per_page: pageSize, ...resolveTimes(query, Date.now()) },
        signal,
      }),
    placeholderData: keepPreviousData,
    enabled,
    refetchInterval: ({ state }) =>
      typeof refetchInterval === 'function' ? refetchInterval(state.data) : (refetchInterval ?? false),
  });
  const { after: _, page: _page, per_page: _size, ...filters } = query;
  return { data, error, isPending, isPlaceholderData, refetch, source: { path, query: filters } };
}
