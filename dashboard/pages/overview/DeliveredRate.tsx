import { Group, Progress, Text } from '@mantine/core';
import type { EndpointStatistics } from '../../api/types.ts';
import { NoValue } from '../../shared/text/NoValue.tsx';
import { percent } from './percent.ts';

const GOOD = 0.99;
const FAIR = 0.9;

/** Delivered of those due. */
export function DeliveredRate({
  completed,
  due,
  delivered_rate: rate,
}: Pick<EndpointStatistics, 'completed' | 'due' | 'delivered_rate'>) {
  if (rate === undefined) return <NoValue />;
  const color = rate >= GOOD ? 'teal' : rate >= FAIR ? 'yellow' : 'red';
  return (
    <div>
      <Group gap="xs" wrap="nowrap">
        <Progress
          value={rate * 100}
          color={color}
          w={48}
          size="sm"
          aria-label={`Delivered ${percent(rate)}`}
        />
        <Text size="sm">{percent(rate)}</Text>
      </Group>
      <Text size="xs" c="dimmed">
        {completed.toLocaleString('en')} of {due.toLocaleString('en')}
      </Text>
    </div>
  );
}
