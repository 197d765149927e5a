import { Skeleton, Stack } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { DeliveryStatistics } from '../../../api/types.ts';
import type { TimeAxis } from '../../../shared/chart/BarChart.tsx';
import { ErrorAlert } from '../../../shared/feedback/ErrorAlert.tsx';
import { StaleAlert } from '../../../shared/feedback/StaleAlert.tsx';
import { AttemptBars } from './AttemptBars.tsx';
import { CHART_PX } from './ChartPanel.tsx';

/** For pages without other statistics: shows loading and errors itself. */
export function AttemptsChart({
  statistics: { data, error, refetch },
  label,
  onOpen,
  above,
}: {
  statistics: UseQueryResult<DeliveryStatistics>;
  label: string;
  onOpen?: (from: Date, to: Date) => void;
  above?: (axis: TimeAxis) => ReactNode;
}) {
  if (error && !data) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height={CHART_PX} />;
  return (
    <Stack gap="sm">
      {error ? <StaleAlert what="the chart" /> : null}
      <AttemptBars data={data} label={label} onOpen={onOpen} above={above} />
    </Stack>
  );
}
