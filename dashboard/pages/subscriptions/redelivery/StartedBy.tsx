import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { List, Member, Recovery } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { RelativeTime } from '../../../shared/time/RelativeTime.tsx';

const PER_PAGE = 100;
const FRESH_FOR_MS = 60_000;

export function StartedBy({ redelivery }: { redelivery: Recovery }) {
  const { created_at: at, actor_type: type, actor } = redelivery;
  const { api } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/members', 'all'],
    queryFn: () => api.get<List<Member>>('/members', { query: { per_page: PER_PAGE } }),
    staleTime: FRESH_FOR_MS,
  });
  const member = data?.objects.find(({ guid }) => guid === actor);
  return (
    <Stack gap={0}>
      <Text size="sm" component="div">
        <RelativeTime at={at} />
      </Text>
      {type === undefined ? null : (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {type === 'application' ? `API key ${actor}` : (member?.name ?? member?.email ?? 'former member')}
        </Text>
      )}
    </Stack>
  );
}
