import '@mantine/charts/styles.css';
import { AreaChart } from '@mantine/charts';
import { Skeleton, Text, VisuallyHidden } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { DeliveryStatistics } from '../../api/types.ts';
import { Failure } from '../../shared/Failure.tsx';
import { perMinute } from './statistics.ts';

const HEIGHT = 240;

/** What was delivered and what failed, per minute, over the time shown. */
export function DeliveriesChart({
  statistics: { data, error, refetch },
  label,
}: {
  statistics: UseQueryResult<DeliveryStatistics>;
  label: string;
}) {
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height={HEIGHT} />;
  const { points, step_seconds: step, range } = data;
  const completed = points.reduce((sum, point) => sum + point.completed, 0);
  const failed = points.reduce((sum, point) => sum + point.failed_attempts, 0);
  return (
    <figure style={{ margin: 0 }} aria-label={label}>
      <VisuallyHidden>
        <figcaption>
          {completed} delivered and {failed} failed attempts in the time shown
        </figcaption>
      </VisuallyHidden>
      <div aria-hidden="true">
        <AreaChart
          h={HEIGHT}
          type="default"
          dataKey="at"
          data={points.map((point) => ({
            at: timeLabel(point.at, range),
            Delivered: perMinute(point.completed, step),
            Failed: perMinute(point.failed_attempts, step),
          }))}
          series={[
            { name: 'Delivered', color: 'iris.6' },
            { name: 'Failed', color: 'red.6' },
          ]}
          curveType="monotone"
          withDots={false}
          strokeWidth={1.75}
          fillOpacity={0.14}
          withLegend
          legendProps={{ verticalAlign: 'top', height: 36 }}
          gridAxis="x"
          xAxisProps={{ minTickGap: 48 }}
          yAxisProps={{ width: 40, tickFormatter: String }}
          areaChartProps={{ accessibilityLayer: false }}
          tooltipAnimationDuration={0}
          areaProps={{ isAnimationActive: false }}
          valueFormatter={(value) => `${value.toLocaleString('en')} / min`}
        />
      </div>
      {completed + failed === 0 ? (
        <Text size="sm" c="dimmed" ta="center" mt="xs">
          Nothing was sent in this time.
        </Text>
      ) : null}
    </figure>
  );
}

function timeLabel(at: string, range: DeliveryStatistics['range']): string {
  const options: Intl.DateTimeFormatOptions =
    range === '7d'
      ? { weekday: 'short', hour: '2-digit', minute: '2-digit', hour12: false }
      : { hour: '2-digit', minute: '2-digit', hour12: false };
  return new Intl.DateTimeFormat('en', options).format(new Date(at));
}
