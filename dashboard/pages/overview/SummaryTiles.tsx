import { Paper, SimpleGrid, Skeleton, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { DeliveryStatistics } from '../../api/types.ts';
import { waitingLabel } from '../../shared/endpoints/endpoint-labels.ts';
import { formatDuration } from '../../shared/time/format-time.ts';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { percent } from './percent.ts';
import styles from './SummaryTiles.module.css';

const LOW_RATE = 0.9;

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
          <Text size="xs" c="dimmed" mih={18} component="div">
            {data ? hint : null}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  );
}

type Tile = { label: string; value: string; hint: ReactNode; isError?: boolean };

function tilesOf(data: DeliveryStatistics | undefined): Tile[] {
  const totals = data?.totals;
  if (!totals) return LABELS.map((label) => ({ label, value: '', hint: '' }));
  const { completed, due, completed_first_attempt: first, failed_attempts: unsuccessful } = totals;
  const { delivered_rate: rate, oldest_waiting_at: oldestAt, p50_ms: median, p99_ms: p99, timeouts } = totals;
  const [delivered, firstAttempt, waiting, responseTime] = LABELS;
  return [
    {
      label: delivered,
      value: rate === undefined ? '–' : percent(rate),
      hint: `${count(completed)} of ${count(due)} due`,
      isError: rate !== undefined && rate < LOW_RATE,
    },
    {
      label: firstAttempt,
      value: due === 0 ? '–' : percent(first / due),
      hint: unsuccessful === 1 ? '1 unsuccessful attempt' : `${count(unsuccessful)} unsuccessful attempts`,
    },
    {
      label: waiting,
      value: waitingLabel(totals),
      hint: oldestAt ? (
        <>
          oldest <RelativeTime at={oldestAt} />
        </>
      ) : (
        'none waiting'
      ),
    },
    {
      label: responseTime,
      value: median === undefined ? '–' : formatDuration(median),
      hint: `median${p99 === undefined ? '' : `, p99 ${formatDuration(p99)}`}${timeoutsLabel(timeouts)}`,
    },
  ];
}

const LABELS = ['Delivered', 'Delivered at first attempt', 'Waiting now', 'Response time'] as const;

function timeoutsLabel(timeouts: number): string {
  if (timeouts === 0) return '';
  return timeouts === 1 ? ', 1 timeout' : `, ${count(timeouts)} timeouts`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}
