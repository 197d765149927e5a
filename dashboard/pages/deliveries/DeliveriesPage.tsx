import { useWorkspace } from '../../session/workspace.ts';
import { DeliveryTable } from '../../shared/deliveries/DeliveryTable.tsx';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';

export function DeliveriesPage() {
  const { environment } = useWorkspace();
  return (
    <>
      <PageHeader title="Deliveries" guide="webhooks#retries">
        Deliveries to all endpoints in {environment}. Each delivery sends one event to one endpoint, with as
        many attempts as it takes.
      </PageHeader>
      <Panel flush>
        <DeliveryTable
          query={{}}
          showEvent
          showSubscription
          filterable
          empty={
            <EmptyState icon="send" title={`No deliveries in ${environment} yet`}>
              Each event is delivered to every subscription of its environment.
            </EmptyState>
          }
        />
      </Panel>
    </>
  );
}
