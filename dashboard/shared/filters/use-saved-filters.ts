import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { accountApi } from '../../api/account.ts';
import type { SavedFilter } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

const KEY = 'saved filters';

export function useSavedFilters(list: string): { saved: SavedFilter[]; error: Error | null } {
  const { guid } = useWorkspace().organization;
  const { data, error } = useQuery({
    queryKey: [KEY, guid],
    queryFn: async () => (await accountApi.savedFilters(guid)).objects,
    staleTime: 60_000,
  });
  return { saved: (data ?? []).filter((each) => each.list === list), error };
}

export function useRefreshSavedFilters(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: [KEY] });
}

/** The path of the page without guids: `events`, `subscriptions.guid`. */
export function useListName(given: string | undefined): string {
  const { pathname } = useLocation();
  if (given !== undefined) return given;
  return pathname
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => (/^[a-z_-]+$/.test(segment) ? segment : 'guid'))
    .join('.');
}
