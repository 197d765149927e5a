import type { DetailedDelivery } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { DeliveryDetails } from '../../shared/deliveries/DeliveryDetails.tsx';
import { useSubscriptionName } from '../../shared/deliveries/use-subscriptions.ts';
import { DetailPage } from '../../shared/page/DetailPage.tsx';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { formatExactTime } from '../../shared/time/format-time.ts';

const REFRESH_MS = 5_000;

export function DeliveryPage() {
  const { environment } = useWorkspace();
  const nameOf = useSubscriptionName();
  const back = (
    <PageLink to="/deliveries" size="sm">
      ← Deliveries
    </PageLink>
  );
  return (
    <DetailPage<DetailedDelivery> path="/subscription_deliveries" back={back} refreshMs={REFRESH_MS}>
      {(delivery) => (
        <>
          <PageHeader
            title={`Delivery of ${delivery.event_type}`}
            guide="webhooks#read-attempts"
            spaced={false}
          >
            To {nameOf(delivery.subscription_guid) ?? 'a subscription'} in {environment}, created{' '}
            {formatExactTime(delivery.created_at)}
          </PageHeader>
          <Panel>
            <DeliveryDetails delivery={delivery} />
          </Panel>
        </>
      )}
    </DetailPage>
  );
}
