import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { Query } from '../../api/send.ts';
import type { List } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

const PER_PAGE = 20;

export type ListResult<Item> = UseQueryResult<List<Item>>;

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
  return useQuery({
    queryKey: [api.key, path, query],
    queryFn: ({ signal }) => api.get<List<Item>>(path, { query: { per_page: PER_PAGE, ...query }, signal }),
    placeholderData: keepPreviousData,
    enabled,
    refetchInterval: ({ state }) =>
      typeof refetchInterval === 'function' ? refetchInterval(state.data) : (refetchInterval ?? false),
  });
}
