import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { hasCode } from '../../api/api-error.ts';
import type { Api } from '../../api/client.ts';
import type { Query } from '../../api/send.ts';
import type { List } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { resolveTimes } from '../filters/time-range.ts';
import { usePageSize } from './use-page-size.ts';

/** The API list of a table, without its page: what an export reads. */
export type ListSource = { path: string; query: Query };

type Shown = 'data' | 'error' | 'isPending' | 'isPlaceholderData';
export type ListResult<Item> = Pick<UseQueryResult<List<Item>>, Shown> & {
  refetch(): unknown;
  source?: ListSource;
};

type ListOptions<Item> = {
  /** In ms; may depend on the last result. */
  refetchInterval?: number | ((list: List<Item> | undefined) => number);
  enabled?: boolean;
  /** The ID of the only object to show, wherever in the list it is. */
  only?: string | undefined;
};

/** One page of an API list. The previous page stays visible while the next one loads. */
export function useList<Item>(
  path: string,
  query: Query,
  { refetchInterval, enabled = true, only }: ListOptions<Item> = {},
): ListResult<Item> {
  const { api } = useWorkspace();
  const [pageSize] = usePageSize();
  const { data, error, isPending, isPlaceholderData, refetch } = useQuery({
    queryKey: [api.key, path, query, pageSize, only],
    queryFn: ({ signal }) =>
      only === undefined
        ? api.get<List<Item>>(path, {
            query: { per_page: pageSize, ...resolveTimes(query, Date.now()) },
            signal,
          })
        : readOne<Item>(api, `${path}/${only}`, signal),
    placeholderData: keepPreviousData,
    enabled,
    refetchInterval: ({ state }) =>
      typeof refetchInterval === 'function' ? refetchInterval(state.data) : (refetchInterval ?? false),
  });
  const { after: _, page: _page, per_page: _size, ...filters } = query;
  const source = only === undefined ? { source: { path, query: filters } } : {};
  return { data, error, isPending, isPlaceholderData, refetch, ...source };
}

/** Empty if the object does not exist. */
async function readOne<Item>(api: Api, path: string, signal: AbortSignal): Promise<List<Item>> {
  const listOf = (objects: Item[]) => ({ total: objects.length, page: 1, per_page: 1, objects });
  try {
    return listOf([await api.get<Item>(path, { signal })]);
  } catch (error) {
    if (hasCode(error, 'not_found')) return listOf([]);
    throw error;
  }
}
