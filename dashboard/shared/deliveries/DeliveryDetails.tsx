import { Button, Group, Stack, Text } from '@mantine/core';
import type { DetailedDelivery } from '../../api/types.ts';
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
export function DeliveryDetails({
  delivery,
  titled = true,
}: {
  delivery: DetailedDelivery;
  titled?: boolean;
}) {
  const delivering = useDeliveringSubscriptions();
  const canRedeliver = delivering?.includes(delivery.subscription_guid);
  const redeliver = useRedeliver();
  const { attempts, attempt_count: count, subscription_event_guid: eventGuid } = delivery;
  return (
    <Stack>
      <Group justify="space-between" align="flex-start">
        <Stack gap={6}>
          {titled ? (
            <Text ff="monospace" size="sm" fw={600}>
              {delivery.event_type}
            </Text>
          ) : null}
          <DeliveryOutcome delivery={delivery} showApiState />
        </Stack>
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
      <Group gap="xl">
        <SubscriptionLabel guid={delivery.subscription_guid} />
        <PageLink to="/events/$guid" params={{ guid: eventGuid }} size="sm">
          Event
        </PageLink>
        <Guid value={delivery.guid} name="ID of the delivery" />
      </Group>
      {canRedeliver === false ? (
        <Text size="sm" c="dimmed">
          You cannot redeliver this event: its subscription is disabled, failed or deleted.
        </Text>
      ) : null}
      {delivery.next_attempt_at ? <NextAttempt at={delivery.next_attempt_at} /> : null}
      <Text size="xs" c="dimmed" fw={600}>
        {count === 1 ? '1 attempt' : `${count.toLocaleString('en')} attempts`}
        {count > attempts.length ? `, the last ${attempts.length} are listed` : null}
      </Text>
      {attempts.toReversed().map((attempt, index) => (
        <AttemptCard key={attempt.number} attempt={attempt} delivery={delivery} opened={index === 0} />
      ))}
    </Stack>
  );
}
