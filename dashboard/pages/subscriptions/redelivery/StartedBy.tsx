import { Stack, Text } from '@mantine/core';
import type { Recovery } from '../../../api/types.ts';
import { ActorName } from '../../../shared/text/ActorName.tsx';
import { RelativeTime } from '../../../shared/time/RelativeTime.tsx';

export function StartedBy({ redelivery }: { redelivery: Recovery }) {
  const { created_at: at, actor_type: type, actor } = redelivery;
  return (
    <Stack gap={0}>
      <Text size="sm" component="div">
        <RelativeTime at={at} />
      </Text>
      {type === undefined ? null : (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          <ActorName type={type} id={actor} />
        </Text>
      )}
    </Stack>
  );
}
