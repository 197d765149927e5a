import { Group, Progress, Text } from '@mantine/core';
import { NoValue } from '../../shared/text/NoValue.tsx';
import { percent } from './charts/use-statistics.ts';

const GOOD = 0.99;
const FAIR = 0.9;

export function SuccessRate({ rate }: { rate: number | undefined }) {
  if (rate === undefined) return <NoValue />;
  const color = rate >= GOOD ? 'teal' : rate >= FAIR ? 'yellow' : 'red';
  return (
    <Group gap="xs" wrap="nowrap">
      <Progress
        value={rate * 100}
        color={color}
        w={64}
        size="sm"
        aria-label={`Success rate ${percent(rate)}`}
      />
      <Text size="sm">{percent(rate)}</Text>
    </Group>
  );
}
