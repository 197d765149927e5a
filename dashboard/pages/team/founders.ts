import { useQuery } from '@tanstack/react-query';
import type { List, Member } from '../../api/types.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';

const PER_PAGE = 100;

/** Those who have accepted, as the server counts them, over the whole team; undefined as long as it is not known. */
export function useFounders(enabled: boolean): readonly string[] | undefined {
  const { api } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/members', 'founders'],
    queryFn: async ({ signal }) => {
      const founders: string[] = [];
      let after: string | undefined;
      do {
        const query = { per_page: PER_PAGE, after };
        const { objects, next } = await api.get<List<Member>>('/members', { query, signal });
        founders.push(...objects.filter(isFounder).map(({ guid }) => guid));
        after = next;
      } while (after !== undefined);
      return founders;
    },
    enabled,
  });
  return data;
}

function isFounder({ role, state }: Member): boolean {
  return role === 'founder' && state === 'active';
}
