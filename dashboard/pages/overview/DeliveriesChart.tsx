import { Skeleton, Stack } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { DeliveryStatistics } from '../../api/types.ts';
import { Failure } from '../../shared/Failure.tsx';
import { OutOfDate } from '../../shared/OutOfDate.tsx';
import { CHART_PX } from './ChartPanel.tsx';
import { DeliveryBars } from './DeliveryBars.tsx';

/** The attempts by themselves, in each of their states: for a page that shows nothing else of the figures. */
export function DeliveriesChart({
  statistics: { data, error, refetch },
  label,
}: {
  statistics: UseQueryResult<DeliveryStatistics>;
  label: string;
}) {
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height={CHART_PX} />;
  return (
    <Stack gap="sm">
      {error ? <OutOfDate /> : null}
      <DeliveryBars data={data} label={label} />
    </Stack>
  );
}
