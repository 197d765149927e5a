import { useQuery } from '@tanstack/react-query';
import type { Found } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

/** What an identifier names, in both environments. */
export function useLookup(text: string, { enabled = true }: { enabled?: boolean } = {}) {
  const { api } = useWorkspace();
  return useQuery({
    queryKey: [api.key, '/lookup', text],
    queryFn: ({ signal }) => api.get<{ objects: Found[] }>('/lookup', { query: { q: text }, signal }),
    enabled,
  });
}
