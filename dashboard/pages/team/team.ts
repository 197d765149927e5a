import { useQuery } from '@tanstack/react-query';
import type { List, Member } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

const PER_PAGE = 100;

/** `size` includes invited members; `founders` only those who have accepted. */
type Team = { size: number; founders: readonly string[] };

/** Reads all pages; undefined while loading. */
export function useTeam(enabled: boolean): Team | undefined {
  const { api } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/members', 'team'],
    queryFn: async ({ signal }) => {
      const founders: string[] = [];
      let size = 0;
      let after: string | undefined;
      do {
        const query = { per_page: PER_PAGE, after };
        const { objects, next } = await api.get<List<Member>>('/members', { query, signal });
        founders.push(...objects.filter(isFounder).map(({ guid }) => guid));
        size += objects.length;
        after = next;
      } while (after !== undefined);
      return { size, founders };
    },
    enabled,
  });
  return data;
}

function isFounder({ role, state }: Member): boolean {
  return role === 'founder' && state === 'active';
}
