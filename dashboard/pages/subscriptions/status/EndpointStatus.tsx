import { useWorkspace } from '../../../session/workspace.ts';
import { DeliveryTable } from '../../../shared/deliveries/DeliveryTable.tsx';
import { EmptyState } from '../../../shared/feedback/EmptyState.tsx';
import { useFilters } from '../../../shared/filters/use-filters.ts';
import { Panel } from '../../../shared/page/Panel.tsx';
import { CheckSignatureButton } from '../../../shared/verification/Verification.tsx';
import { rangeOf, useStatistics } from '../../overview/charts/use-statistics.ts';
import { SummaryTiles } from '../../overview/SummaryTiles.tsx';
import { RedeliveryHistory } from '../redelivery/RedeliveryHistory.tsx';
import { FailureAlert } from './FailureAlert.tsx';
import { SubscriptionChart } from './SubscriptionChart.tsx';

/** Why the endpoint fails, what has arrived and what waits, its attempts over time, redeliveries and deliveries. */
export function EndpointStatus({ guid }: { guid: string }) {
  const { can, environment } = useWorkspace();
  const { filters } = useFilters();
  const statistics = useStatistics(rangeOf(filters.range), guid);
  return (
    <>
      <FailureAlert guid={guid} />
      {statistics.error && !statistics.data ? null : <SummaryTiles data={statistics.data} />}
      <SubscriptionChart guid={guid} />
      <RedeliveryHistory subscriptionGuid={guid} />
      <Panel title="Deliveries" flush actions={<CheckSignatureButton />}>
        <DeliveryTable
          query={{ subscription_guid: guid }}
          showEvent
          filterable
          empty={
            <EmptyState icon="send" title="No deliveries yet">
              {can('subscription_events:execute')
                ? 'Send a test event to create a delivery.'
                : `Deliveries appear here as soon as an event is created in ${environment}.`}
            </EmptyState>
          }
        />
      </Panel>
    </>
  );
}
