import { Button, Drawer, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { DetailedDelivery } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { ErrorAlert } from '../feedback/ErrorAlert.tsx';
import { PageLoading } from '../feedback/PageLoading.tsx';
import { Guid } from '../text/Guid.tsx';
import { Icon } from '../text/Icon.tsx';
import { AttemptCard } from './AttemptCard.tsx';
import { DeliveryOutcome } from './DeliveryOutcome.tsx';
import { NextAttempt } from './NextAttempt.tsx';
import { SubscriptionLabel } from './SubscriptionLabel.tsx';
import { useDeliveringSubscriptions } from './use-delivering-subscriptions.ts';
import { useRedeliver } from './use-redeliver.ts';

const REFRESH_MS = 3_000;

/** One delivery with its attempts, newest first. */
export function DeliveryDrawer({ guid, onClose }: { guid: string; onClose: () => void }) {
  const { api } = useWorkspace();
  const { data, error, refetch } = useQuery({
    queryKey: [api.key, '/subscription_deliveries', guid],
    queryFn: ({ signal }) => api.get<DetailedDelivery>(`/subscription_deliveries/${guid}`, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const delivering = useDeliveringSubscriptions();
  const canRedeliver = data && delivering?.includes(data.subscription_guid);
  const redeliver = useRedeliver({ onCreated: onClose });
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title="Delivery">
      {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : null}
      {!data && !error ? <PageLoading /> : null}
      {data ? (
        <Stack>
          <Group justify="space-between" align="flex-start">
            <Stack gap={6}>
              <Text ff="monospace" size="sm" fw={600}>
                {data.event_type}
              </Text>
              <DeliveryOutcome delivery={data} />
            </Stack>
            {canRedeliver ? (
              <Button
                variant="light"
                leftSection={<Icon name="send" size={16} />}
                loading={redeliver.isPending}
                onClick={() => redeliver.mutate(data)}
              >
                Redeliver
              </Button>
            ) : null}
          </Group>
          <Group gap="xl">
            <SubscriptionLabel guid={data.subscription_guid} />
            <Guid value={data.guid} name="delivery guid" />
          </Group>
          {canRedeliver === false ? (
            <Text size="sm" c="dimmed">
              You cannot redeliver this event: its subscription is disabled, failed or deleted.
            </Text>
          ) : null}
          {data.next_attempt_at ? <NextAttempt at={data.next_attempt_at} /> : null}
          <Text size="xs" c="dimmed" fw={600}>
            {data.attempt_count === 1 ? '1 attempt' : `${data.attempt_count} attempts`}
          </Text>
          {data.attempts.toReversed().map((attempt) => (
            <AttemptCard key={attempt.number} attempt={attempt} />
          ))}
        </Stack>
      ) : null}
    </Drawer>
  );
}
