import type { ReactNode } from 'react';
import type { DeliveryStatistics } from '../../../api/types.ts';
import { BarChart, type TimeAxis } from '../../../shared/chart/BarChart.tsx';

export function AttemptBars({
  data,
  label,
  onOpen,
  above,
}: {
  data: DeliveryStatistics;
  label: string;
  onOpen?: ((from: Date, to: Date) => void) | undefined;
  above?: ((axis: TimeAxis) => ReactNode) | undefined;
}) {
  const { points, step_seconds: stepSeconds } = data;
  return (
    <BarChart
      label={label}
      from={points[0]?.at ?? ''}
      stepSeconds={stepSeconds}
      series={[
        { name: 'Successful', tone: 'accent', values: points.map((point) => point.completed) },
        { name: 'Unsuccessful', tone: 'error', values: points.map((point) => point.failed_attempts) },
      ]}
      empty="No attempts in this period"
      onOpen={onOpen}
      above={above}
    />
  );
}
