import { useFilters } from '../../shared/filters.ts';
import { Panel } from '../../shared/Panel.tsx';
import { DeliveriesChart } from '../overview/DeliveriesChart.tsx';
import { RangeControl } from '../overview/RangeControl.tsx';
import { rangeOf, useStatistics } from '../overview/statistics.ts';

/** How this endpoint has answered, over the time that is chosen. */
export function SubscriptionChart({ guid }: { guid: string }) {
  const { filters } = useFilters();
  const range = rangeOf(filters.range);
  const statistics = useStatistics(range, guid);
  return (
    <Panel title="Attempts" actions={<RangeControl />}>
      <DeliveriesChart statistics={statistics} label="Attempts at this endpoint" />
    </Panel>
  );
}
