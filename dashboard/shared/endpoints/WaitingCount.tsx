import { Text } from '@mantine/core';
import type { EndpointHealth } from '../../api/types.ts';
import { RelativeTime } from '../time/RelativeTime.tsx';
import { waitingLabel } from './endpoint-labels.ts';

/** How many deliveries wait, and since when the oldest does. */
export function WaitingCount(
  endpoint: Pick<EndpointHealth, 'waiting' | 'waiting_is_minimum' | 'oldest_waiting_at'>,
) {
  const { oldest_waiting_at: oldestAt } = endpoint;
  return (
    <div>
      <Text size="sm">{waitingLabel(endpoint)}</Text>
      {oldestAt ? (
        <Text size="xs" c="dimmed" component="div" style={{ whiteSpace: 'nowrap' }}>
          oldest <RelativeTime at={oldestAt} />
        </Text>
      ) : null}
    </div>
  );
}
