import { Paper, SimpleGrid, Skeleton, Text } from '@mantine/core';
import type { DeliveryStatistics } from '../../api/types.ts';
import { formatDuration } from '../../shared/time/format-time.ts';
import { percent } from './charts/use-statistics.ts';
import styles from './SummaryTiles.module.css';

const LOW_SUCCESS_RATE = 0.9;

export function SummaryTiles({ data }: { data: DeliveryStatistics | undefined }) {
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} spacing={{ base: 'sm', sm: 'lg' }}>
      {tilesOf(data).map(({ label, value, hint, isError }) => (
        <Paper key={label} className={styles.tile} radius="lg">
          <Text size="sm" c="dimmed" fw={500}>
            {label}
          </Text>
          {data ? (
            <Text className={styles.value} data-error={isError || undefined}>
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

type Tile = { label: string; value: string; hint: string; isError?: boolean };

const NO_TOTALS: DeliveryStatistics['totals'] = {
  events: 0,
  completed: 0,
  failed_attempts: 0,
  waiting: 0,
  waiting_is_minimum: false,
};

function tilesOf(data: DeliveryStatistics | undefined): Tile[] {
  const { events, completed, failed_attempts: failed, ...quality } = data?.totals ?? NO_TOTALS;
  const { success_rate: rate, p50_ms: median, p99_ms: p99 } = quality;
  return [
    { label: 'Events', value: events.toLocaleString('en'), hint: 'created' },
    { label: 'Delivered', value: completed.toLocaleString('en'), hint: 'deliveries completed' },
    {
      label: 'Success rate',
      value: rate === undefined ? '–' : percent(rate),
      hint: failed === 1 ? '1 failed attempt' : `${failed.toLocaleString('en')} failed attempts`,
      isError: rate !== undefined && rate < LOW_SUCCESS_RATE,
    },
    {
      label: 'Response time',
      value: median === undefined ? '–' : formatDuration(median),
      hint: p99 === undefined ? 'median' : `median, p99 ${formatDuration(p99)}`,
    },
  ];
}
