import { useQuery } from '@tanstack/react-query';
import { hasCode } from '../../api/api-error.ts';
import type { Member } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

const FRESH_FOR_MS = 60_000;

/** A member by name or email, an API key by its client_id, or the operator. */
export function ActorName({ type, id }: { type: string; id: string | undefined }) {
  const { api } = useWorkspace();
  const { data: member, error } = useQuery({
    queryKey: [api.key, '/members', id],
    queryFn: ({ signal }) => api.get<Member>(`/members/${id}`, { signal }),
    staleTime: FRESH_FOR_MS,
    enabled: type === 'user' && id !== undefined,
  });
  if (type === 'application') return `API key ${id}`;
  if (type !== 'user') return 'The operator';
  if (hasCode(error, 'not_found')) return 'A former member';
  return member?.name ?? member?.email ?? 'A member';
}
