import { useNavigate } from '@tanstack/react-router';
import { useFilters } from '../../../shared/filters/use-filters.ts';
import { Panel } from '../../../shared/page/Panel.tsx';
import { AttemptsChart } from '../../overview/charts/AttemptsChart.tsx';
import { RangeControl } from '../../overview/charts/RangeControl.tsx';
import { rangeOf, useStatistics } from '../../overview/charts/use-statistics.ts';
import { HealthTimeline } from './HealthTimeline.tsx';

export function SubscriptionChart({ guid }: { guid: string }) {
  const { filters } = useFilters();
  const navigate = useNavigate();
  const range = rangeOf(filters.range);
  const statistics = useStatistics(range, guid);
  const openDeliveries = (from: Date, to: Date) =>
    void navigate({
      to: '/subscriptions/$guid',
      params: { guid },
      search: {
        ...(filters.range ? { range: filters.range } : {}),
        ...{ from: from.toISOString(), until: to.toISOString() },
      },
      resetScroll: false,
    });
  return (
    <Panel
      title="Attempts"
      hint="Select a bar to list the deliveries created in it"
      actions={<RangeControl />}
    >
      <AttemptsChart
        statistics={statistics}
        label="Attempts"
        onOpen={openDeliveries}
        above={(axis) => <HealthTimeline guid={guid} range={range} axis={axis} />}
      />
    </Panel>
  );
}
