import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { Skeleton, VisuallyHidden } from '@mantine/core';
import type { DeliveryStatistics } from '../../api/types.ts';
import { perMinute } from './statistics.ts';

const HEIGHT = 240;

export function EventsChart({ data }: { data: DeliveryStatistics | undefined }) {
  if (!data) return <Skeleton height={HEIGHT} />;
  const { points, step_seconds: step } = data;
  const total = points.reduce((sum, point) => sum + point.events, 0);
  return (
    <figure style={{ margin: 0 }} aria-label="Events">
      <VisuallyHidden>
        <figcaption>{total} events in the time shown</figcaption>
      </VisuallyHidden>
      <div aria-hidden="true">
        <BarChart
          h={HEIGHT}
          dataKey="at"
          data={points.map((point) => ({ at: hour(point.at), Events: perMinute(point.events, step) }))}
          series={[{ name: 'Events', color: 'iris.4' }]}
          gridAxis="x"
          xAxisProps={{ minTickGap: 48 }}
          yAxisProps={{ width: 40, tickFormatter: String }}
          barChartProps={{ accessibilityLayer: false }}
          tooltipAnimationDuration={0}
          barProps={{ isAnimationActive: false, radius: 2 }}
          valueFormatter={(value) => `${value.toLocaleString('en')} / min`}
        />
      </div>
    </figure>
  );
}

function hour(at: string): string {
  return new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hour12: false }).format(
    new Date(at),
  );
}
