import { Badge, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AuditEntry, List } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { RelativeTime } from '../time/RelativeTime.tsx';

type Begun = { action: string; objectId: string; at: string };

/** Marks a credential that is being replaced, or its replacement with who began it and when. */
export function ReplacementBadge({ label, begun }: { label: string; begun?: Begun | undefined }) {
  return (
    <Stack gap={2} align="flex-start" maw="100%">
      <Badge
        variant="light"
        color="blue"
        radius="sm"
        tt="none"
        fw={600}
        size="md"
        maw="100%"
        data-replacement
      >
        {label}
      </Badge>
      {begun ? <BegunBy {...begun} /> : null}
    </Stack>
  );
}

/** From the audit log, which only Founders and Key Admins can read; others see the time. */
function BegunBy({ action, objectId, at }: Begun) {
  const { api, can } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/audit_entries', 'begun', objectId],
    queryFn: ({ signal }) =>
      api.get<List<AuditEntry>>('/audit_entries', {
        query: { action, object_id: objectId, per_page: 1 },
        signal,
      }),
    enabled: can('audit_entries:read'),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [entry] = data?.objects ?? [];
  const person =
    entry &&
    (entry.actor_name ?? entry.actor_email ?? (entry.actor_type === 'operator' ? 'the operator' : undefined));
  return (
    <Text size="xs" c="dimmed" component="div">
      Begun{person ? ` by ${person}` : null} <RelativeTime at={at} />
    </Text>
  );
}
