import { Paper, SimpleGrid, Skeleton, Text } from '@mantine/core';
import type { DeliveryStatistics } from '../../api/types.ts';
import styles from './Numbers.module.css';
import { percent } from './statistics.ts';

/** The time shown in four numbers. */
export function Numbers({ data }: { data: DeliveryStatistics | undefined }) {
  const events = sum(data, 'events');
  const completed = sum(data, 'completed');
  const failed = sum(data, 'failed_attempts');
  const attempts = completed + failed;
  const slowest = Math.max(0, ...(data?.subscriptions ?? []).map(({ p99_ms: ms }) => ms ?? 0));
  const numbers = [
    { label: 'Events', value: events.toLocaleString('en') },
    { label: 'Delivered', value: completed.toLocaleString('en') },
    {
      label: 'Success rate',
      value: attempts === 0 ? '–' : percent(completed / attempts),
      hint: `${failed.toLocaleString('en')} failed attempts`,
      trouble: attempts > 0 && completed / attempts < 0.9,
    },
    { label: 'Slowest p99', value: slowest === 0 ? '–' : `${slowest.toLocaleString('en')} ms` },
  ];
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} spacing={{ base: 'sm', sm: 'lg' }}>
      {numbers.map(({ label, value, hint, trouble }) => (
        <Paper key={label} className={styles.number} radius="lg">
          <Text size="sm" c="dimmed" fw={500}>
            {label}
          </Text>
          {data ? (
            <Text className={styles.value} data-trouble={trouble || undefined}>
              {value}
            </Text>
          ) : (
            <Skeleton height={28} width={80} mt={8} />
          )}
          <Text size="xs" c="dimmed" mih={18}>
            {hint}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  );
}

function sum(data: DeliveryStatistics | undefined, name: 'events' | 'completed' | 'failed_attempts'): number {
  return (data?.points ?? []).reduce((total, point) => total + point[name], 0);
}
