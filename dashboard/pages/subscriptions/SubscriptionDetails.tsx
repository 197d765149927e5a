import { SimpleGrid } from '@mantine/core';
import type { Subscription } from '../../api/types.ts';
import { LabeledValue } from '../../shared/page/LabeledValue.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { Guid } from '../../shared/text/Guid.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { RollBadge } from './roll/RollBadge.tsx';
import { SubscriptionBadge } from './SubscriptionBadge.tsx';
import { SubscriptionHealth } from './SubscriptionHealth.tsx';

export function SubscriptionDetails({ subscription }: { subscription: Subscription }) {
  return (
    <Panel>
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="lg" pt="sm">
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
        <LabeledValue label="Guid">
          <Guid value={subscription.guid} />
        </LabeledValue>
      </SimpleGrid>
    </Panel>
  );
}
