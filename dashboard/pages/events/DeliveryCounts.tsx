import { Badge, Text } from '@mantine/core';
import type { ListedEvent } from '../../api/types.ts';

/** "2 of 3 delivered", in the color of the worst state. */
export function DeliveryCounts({ counts }: { counts: ListedEvent['delivery_counts'] }) {
  if (!counts) return null;
  const { total, completed, failing, failed } = counts;
  if (total === 0)
    return (
      <Text size="xs" c="dimmed">
        No subscription
      </Text>
    );
  const color = failed > 0 ? 'red' : failing > 0 ? 'orange' : completed < total ? 'blue' : 'teal';
  return (
    <Badge variant="light" color={color} radius="sm" tt="none" fw={600} size="md" miw="max-content">
      {completed === total && total === 1 ? 'Delivered' : `${completed} of ${total} delivered`}
    </Badge>
  );
}
