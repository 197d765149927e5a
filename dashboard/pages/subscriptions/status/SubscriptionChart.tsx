import { useNavigate } from '@tanstack/react-router';
import { createdFor, outagesOf } from '../../../shared/endpoints/outage.ts';
import { useEndpoint } from '../../../shared/endpoints/use-endpoints.ts';
import { useFilters } from '../../../shared/filters/use-filters.ts';
import { Panel } from '../../../shared/page/Panel.tsx';
import { AttemptsChart } from '../../overview/charts/AttemptsChart.tsx';
import { RangeControl } from '../../overview/charts/RangeControl.tsx';
import { rangeOf, useStatistics } from '../../overview/charts/use-statistics.ts';
import { HealthTimeline } from './HealthTimeline.tsx';
import { useTimeline } from './use-timeline.ts';

export function SubscriptionChart({ guid }: { guid: string }) {
  const { filters } = useFilters();
  const navigate = useNavigate();
  const range = rangeOf(filters.range);
  const statistics = useStatistics(range, guid);
  const timeline = useTimeline(guid, range);
  const endpoint = useEndpoint(guid);
  const outages = timeline ? outagesOf(timeline, endpoint ?? {}) : [];
  const openDeliveries = (from: Date, until: Date) =>
    void navigate({
      to: '/subscriptions/$guid',
      params: { guid },
      search: { ...(filters.range ? { range: filters.range } : {}), ...createdFor({ from, until }, outages) },
      resetScroll: false,
    });
  return (
    <Panel
      title="Attempts"
      hint="Select a bar to list its deliveries; in an outage, those created since it began"
      actions={<RangeControl />}
    >
      <AttemptsChart
        statistics={statistics}
        label="Attempts"
        onOpen={openDeliveries}
        above={(axis) => <HealthTimeline timeline={timeline} axis={axis} />}
      />
    </Panel>
  );
}
