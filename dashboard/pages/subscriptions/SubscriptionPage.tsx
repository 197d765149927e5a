import type { Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { DetailPage } from '../../shared/page/DetailPage.tsx';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { EndpointPage } from './EndpointPage.tsx';
import { EndpointNotice } from './endpoint/EndpointNotice.tsx';
import { SubscriptionActions } from './SubscriptionActions.tsx';
import { SubscriptionDetails } from './SubscriptionDetails.tsx';
import { EndpointStatus } from './status/EndpointStatus.tsx';

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
              guide="webhooks#after-an-outage"
              actions={<SubscriptionActions subscription={subscription} />}
            >
              {subscription.url}
            </PageHeader>
            <SubscriptionDetails subscription={subscription} />
          </div>
          <EndpointNotice subscription={subscription} />
          <EndpointStatus guid={subscription.guid} />
        </>
      )}
    </DetailPage>
  );
}
