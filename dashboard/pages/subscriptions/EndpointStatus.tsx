import { useFilters } from '../../shared/filters/use-filters.ts';
import { rangeOf, useStatistics } from '../overview/charts/use-statistics.ts';
import { SummaryTiles } from '../overview/SummaryTiles.tsx';
import { FailureAlert } from './FailureAlert.tsx';
import { SubscriptionChart } from './SubscriptionChart.tsx';

/** Why the endpoint fails, what has arrived and what waits, and its attempts over time. */
export function EndpointStatus({ guid }: { guid: string }) {
  const { filters } = useFilters();
  const statistics = useStatistics(rangeOf(filters.range), guid);
  return (
    <>
      <FailureAlert guid={guid} />
      {statistics.error && !statistics.data ? null : <SummaryTiles data={statistics.data} />}
      <SubscriptionChart guid={guid} />
    </>
  );
}
