import type { DeliveryStatistics } from '../../../api/types.ts';
import { BarChart } from '../../../shared/chart/BarChart.tsx';

export function AttemptBars({ data, label }: { data: DeliveryStatistics; label: string }) {
  const { points, step_seconds: stepSeconds } = data;
  return (
    <BarChart
      label={label}
      from={points[0]?.at ?? ''}
      stepSeconds={stepSeconds}
      series={[
        { name: 'Delivered', tone: 'accent', values: points.map((point) => point.completed) },
        { name: 'Failed', tone: 'error', values: points.map((point) => point.failed_attempts) },
      ]}
      empty="No attempts in this period"
    />
  );
}
