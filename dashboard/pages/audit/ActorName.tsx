import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AuditEntry, List, Member } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { Guid } from '../../shared/text/Guid.tsx';

const PER_PAGE = 100;

/** Current members by name, former members by email, keys by guid. */
export function ActorName({ entry }: { entry: AuditEntry }) {
  const { actor_type: type, actor, actor_email: email } = entry;
  const { api } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/members', 'all'],
    queryFn: () => api.get<List<Member>>('/members', { query: { per_page: PER_PAGE } }),
    staleTime: 60_000,
  });
  const member = data?.objects.find(({ guid }) => guid === actor);
  const name = member?.name ?? member?.email ?? email;
  return (
    <Stack gap={0}>
      {type === actor ? null : (
        <Text size="xs" c="dimmed">
          {type}
        </Text>
      )}
      {name ? (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
      ) : /^[0-9a-f]{32}$/.test(actor) ? (
        <Guid value={actor} name="actor" />
      ) : (
        <Text size="sm">{actor}</Text>
      )}
    </Stack>
  );
}
