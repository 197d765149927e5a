import type { DeliveryStatistics } from '../../../api/types.ts';
import { BarChart } from '../../../shared/chart/BarChart.tsx';

export function EventBars({
  data,
  onOpen,
}: {
  data: DeliveryStatistics;
  onOpen?: (from: Date, to: Date) => void;
}) {
  const { points, step_seconds: stepSeconds } = data;
  return (
    <BarChart
      label="Events"
      from={points[0]?.at ?? ''}
      stepSeconds={stepSeconds}
      series={[{ name: 'Events', tone: 'accent', values: points.map((point) => point.events) }]}
      empty="No events in this period"
      onOpen={onOpen}
    />
  );
}
