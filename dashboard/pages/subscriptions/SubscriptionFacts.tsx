import { SimpleGrid } from '@mantine/core';
import type { Subscription } from '../../api/types.ts';
import { Fact } from '../../shared/Fact.tsx';
import { Guid } from '../../shared/Guid.tsx';
import { Moment } from '../../shared/Moment.tsx';
import { Panel } from '../../shared/Panel.tsx';
import { StateBadge } from '../../shared/StateBadge.tsx';
import { Trouble } from './Trouble.tsx';

export function SubscriptionFacts({ subscription }: { subscription: Subscription }) {
  return (
    <Panel>
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="lg" pt="sm">
        <Fact label="State">
          <StateBadge state={subscription.state} />
        </Fact>
        <Fact label="Attention">
          <Trouble subscription={subscription} />
        </Fact>
        <Fact label="Created">
          <Moment at={subscription.created_at} />
        </Fact>
        <Fact label="Guid">
          <Guid value={subscription.guid} />
        </Fact>
      </SimpleGrid>
    </Panel>
  );
}
