import { useFilters } from '../../shared/filters/use-filters.ts';
import { Panel } from '../../shared/page/Panel.tsx';
import { AttemptsChart } from '../overview/charts/AttemptsChart.tsx';
import { RangeControl } from '../overview/charts/RangeControl.tsx';
import { rangeOf, useStatistics } from '../overview/charts/use-statistics.ts';

export function SubscriptionChart({ guid }: { guid: string }) {
  const { filters } = useFilters();
  const range = rangeOf(filters.range);
  const statistics = useStatistics(range, guid);
  return (
    <Panel title="Attempts" actions={<RangeControl />}>
      <AttemptsChart statistics={statistics} label="Attempts" />
    </Panel>
  );
}
