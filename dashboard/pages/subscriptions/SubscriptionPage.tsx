import type { Subscription } from '../../api/types.ts';
import { DeliveryTable } from '../../shared/deliveries/DeliveryTable.tsx';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { DetailPage } from '../../shared/page/DetailPage.tsx';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { EndpointNotice } from './endpoint/EndpointNotice.tsx';
import { SubscriptionActions } from './SubscriptionActions.tsx';
import { SubscriptionChart } from './SubscriptionChart.tsx';
import { SubscriptionDetails } from './SubscriptionDetails.tsx';

const REFRESH_MS = 5_000;

export function SubscriptionPage() {
  const back = (
    <PageLink to="/subscriptions" size="sm">
      ← Subscriptions
    </PageLink>
  );
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
          <SubscriptionChart guid={subscription.guid} />
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
