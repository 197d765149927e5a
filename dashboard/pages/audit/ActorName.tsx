import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AuditEntry, List, Member } from '../../api/types.ts';
import { Guid } from '../../shared/Guid.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';

const PER_PAGE = 100;

/** People by name while they are in the team; keys and those who left by their guid. */
export function ActorName({ entry: { actor_type: type, actor } }: { entry: AuditEntry }) {
  const { api } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/members', 'all'],
    queryFn: () => api.get<List<Member>>('/members', { query: { per_page: PER_PAGE } }),
    staleTime: 60_000,
  });
  const member = data?.objects.find(({ guid }) => guid === actor);
  return (
    <Stack gap={0}>
      <Text size="xs" c="dimmed">
        {type}
      </Text>
      {member ? (
        <Text size="sm">{member.name ?? member.email}</Text>
      ) : /^[0-9a-f]{32}$/.test(actor) ? (
        <Guid value={actor} name="actor" />
      ) : (
        <Text size="sm">{actor}</Text>
      )}
    </Stack>
  );
}
