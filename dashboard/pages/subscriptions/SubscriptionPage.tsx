import type { Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { DeliveryTable } from '../../shared/deliveries/DeliveryTable.tsx';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { DetailPage } from '../../shared/page/DetailPage.tsx';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { EndpointPage } from './EndpointPage.tsx';
import { EndpointStatus } from './EndpointStatus.tsx';
import { EndpointNotice } from './endpoint/EndpointNotice.tsx';
import { RedeliveryHistory } from './redelivery/RedeliveryHistory.tsx';
import { SubscriptionActions } from './SubscriptionActions.tsx';
import { SubscriptionDetails } from './SubscriptionDetails.tsx';

const REFRESH_MS = 5_000;

export function SubscriptionPage() {
  const { can } = useWorkspace();
  const back = (
    <PageLink to="/subscriptions" size="sm">
      ← Subscriptions
    </PageLink>
  );
  if (!can('subscriptions:read')) return <EndpointPage back={back} />;
  return (
    <DetailPage<Subscription> path="/subscriptions" back={back} refreshMs={REFRESH_MS}>
      {(subscription) => (
        <>
          <div>
            <PageHeader
              title={subscription.name}
              actions={<SubscriptionActions subscription={subscription} />}
            >
              {subscription.url}
            </PageHeader>
            <SubscriptionDetails subscription={subscription} />
          </div>
          <EndpointNotice subscription={subscription} />
          <EndpointStatus guid={subscription.guid} />
          <RedeliveryHistory subscriptionGuid={subscription.guid} />
          <Panel title="Deliveries" flush>
            <DeliveryTable
              query={{ subscription_guid: subscription.guid }}
              showEvent
              filterable
              empty={
                <EmptyState icon="send" title="No deliveries yet">
                  Send a test event to create a delivery.
                </EmptyState>
              }
            />
          </Panel>
        </>
      )}
    </DetailPage>
  );
}
