import { Paper, SimpleGrid, Skeleton, Text } from '@mantine/core';
import type { DeliveryStatistics } from '../../api/types.ts';
import { formatDuration } from '../../shared/time/format-time.ts';
import { percent } from './charts/use-statistics.ts';
import styles from './SummaryTiles.module.css';

/** Below this the rate is shown as trouble. */
const POOR_RATE = 0.9;

/** The time shown in four numbers. */
export function SummaryTiles({ data }: { data: DeliveryStatistics | undefined }) {
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} spacing={{ base: 'sm', sm: 'lg' }}>
      {numbersOf(data).map(({ label, value, hint, trouble }) => (
        <Paper key={label} className={styles.number} radius="lg">
          <Text size="sm" c="dimmed" fw={500}>
            {label}
          </Text>
          {data ? (
            <Text className={styles.value} data-trouble={trouble || undefined}>
              {value}
            </Text>
          ) : (
            <Skeleton height={28} width={80} my={4} />
          )}
          <Text size="xs" c="dimmed" mih={18}>
            {data ? hint : null}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  );
}

type Shown = { label: string; value: string; hint: string; trouble?: boolean };

const NOTHING: DeliveryStatistics['totals'] = { events: 0, completed: 0, failed_attempts: 0 };

function numbersOf(data: DeliveryStatistics | undefined): Shown[] {
  const { events, completed, failed_attempts: failed, ...quality } = data?.totals ?? NOTHING;
  const { success_rate: rate, p50_ms: median, p99_ms: nearlyAll } = quality;
  return [
    { label: 'Events', value: events.toLocaleString('en'), hint: 'announced' },
    { label: 'Delivered', value: completed.toLocaleString('en'), hint: 'answered with 2xx' },
    {
      label: 'Success rate',
      value: rate === undefined ? '–' : percent(rate),
      hint: failed === 1 ? '1 failed attempt' : `${failed.toLocaleString('en')} failed attempts`,
      trouble: rate !== undefined && rate < POOR_RATE,
    },
    {
      label: 'Response time',
      value: median === undefined ? '–' : formatDuration(median),
      hint: nearlyAll === undefined ? 'median' : `median; p99 ${formatDuration(nearlyAll)}`,
    },
  ];
}
