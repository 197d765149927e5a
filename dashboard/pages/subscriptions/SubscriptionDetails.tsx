import type { Subscription } from '../../api/types.ts';
import { DetailsPanel } from '../../shared/page/DetailsPanel.tsx';
import { LabeledValue } from '../../shared/page/LabeledValue.tsx';
import { Guid } from '../../shared/text/Guid.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { RollBadge } from './roll/RollBadge.tsx';
import { SubscriptionBadge } from './status/SubscriptionBadge.tsx';
import { SubscriptionHealth } from './status/SubscriptionHealth.tsx';

export function SubscriptionDetails({ subscription }: { subscription: Subscription }) {
  return (
    <DetailsPanel>
      <LabeledValue label="State">
        <SubscriptionBadge subscription={subscription} />
        <RollBadge subscription={subscription} />
      </LabeledValue>
      <LabeledValue label="Health">
        <SubscriptionHealth subscription={subscription} />
      </LabeledValue>
      <LabeledValue label="Created">
        <RelativeTime at={subscription.created_at} />
      </LabeledValue>
      <LabeledValue label="ID">
        <Guid value={subscription.guid} name="ID of the subscription" />
      </LabeledValue>
    </DetailsPanel>
  );
}
