import { useQuery } from '@tanstack/react-query';
import type { Delivery, List, Member } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

const PER_PAGE = 100;
const FRESH_FOR_MS = 60_000;

/** Who requested an attempt, by name if the person is still a member. */
export function RequestedBy({ requester }: { requester: Delivery['requested_by'] }) {
  const { api } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/members', 'all'],
    queryFn: () => api.get<List<Member>>('/members', { query: { per_page: PER_PAGE } }),
    staleTime: FRESH_FOR_MS,
    enabled: requester?.type === 'user',
  });
  if (requester === undefined) return 'Automatic';
  if (requester.type === 'recovery') return 'Redelivery of many events';
  if (requester.type === 'application') return `API key ${requester.id}`;
  const member = data?.objects.find(({ guid }) => guid === requester.id);
  return member?.name ?? member?.email ?? 'A former member';
}
