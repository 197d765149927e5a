import { Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import type { DetailedDelivery } from '../../api/types.ts';
import { LabeledValue } from '../page/LabeledValue.tsx';
import { Guid } from '../text/Guid.tsx';
import { Icon } from '../text/Icon.tsx';
import { PageLink } from '../text/PageLink.tsx';
import { AttemptCard } from './AttemptCard.tsx';
import { DeliveryOutcome } from './DeliveryOutcome.tsx';
import { NextAttempt } from './NextAttempt.tsx';
import { DeliveryProgress } from './redelivery/DeliveryProgress.tsx';
import { SubscriptionLabel } from './SubscriptionLabel.tsx';
import { useDeliveringSubscriptions } from './use-delivering-subscriptions.ts';
import { useRedeliver } from './use-redeliver.ts';

/** One delivery with its attempts, newest first. */
export function DeliveryDetails({ delivery }: { delivery: DetailedDelivery }) {
  const delivering = useDeliveringSubscriptions();
  const canRedeliver = delivering?.includes(delivery.subscription_guid);
  const redeliver = useRedeliver();
  const { attempts, attempt_count: count, subscription_event_guid: eventGuid } = delivery;
  return (
    <Stack>
      <Group justify="space-between" align="flex-start">
        <SimpleGrid minColWidth="11rem" spacing="lg" verticalSpacing="sm" flex="1 1 16rem">
          <LabeledValue label="State">
            <DeliveryOutcome delivery={delivery} showApiState />
            {delivery.next_attempt_at ? <NextAttempt at={delivery.next_attempt_at} /> : null}
          </LabeledValue>
          <LabeledValue label="Event">
            <PageLink to="/events/$guid" params={{ guid: eventGuid }} ff="monospace" fz={13}>
              {delivery.event_type}
            </PageLink>
          </LabeledValue>
          <LabeledValue label="Subscription">
            <SubscriptionLabel guid={delivery.subscription_guid} />
          </LabeledValue>
          <LabeledValue label="ID">
            <Guid value={delivery.guid} name="ID of the delivery" />
          </LabeledValue>
        </SimpleGrid>
        {canRedeliver ? (
          <Button
            variant="light"
            leftSection={<Icon name="send" size={16} />}
            loading={redeliver.isPending}
            onClick={() => redeliver.mutate(delivery)}
          >
            Redeliver
          </Button>
        ) : null}
      </Group>
      {redeliver.data ? (
        <DeliveryProgress key={redeliver.data.guid} created={redeliver.data} what="Redelivery" />
      ) : null}
      {canRedeliver === false ? (
        <Text size="sm" c="dimmed">
          You cannot redeliver this event: its subscription is disabled, failed or deleted.
        </Text>
      ) : null}
      <Text size="xs" c="dimmed" fw={600}>
        {count === 1 ? '1 attempt' : `${count.toLocaleString('en')} attempts`}
        {count > attempts.length ? `, the last ${attempts.length} are listed` : null}
      </Text>
      {attempts.toReversed().map((attempt, index) => (
        <AttemptCard key={attempt.number} attempt={attempt} delivery={delivery} isNewest={index === 0} />
      ))}
    </Stack>
  );
}
