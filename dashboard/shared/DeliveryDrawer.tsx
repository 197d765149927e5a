import { Button, Drawer, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Delivery, DetailedDelivery } from '../api/types.ts';
import { useWorkspace } from '../shell/workspace-context.ts';
import { AttemptCard } from './AttemptCard.tsx';
import { DeliveryOutcome } from './DeliveryOutcome.tsx';
import { Failure } from './Failure.tsx';
import { Guid } from './Guid.tsx';
import { Icon } from './Icon.tsx';
import { NextAttempt } from './NextAttempt.tsx';
import { tell, tellProblem } from './notify.ts';
import { PageLoading } from './PageLoading.tsx';
import { SubscriptionLabel } from './SubscriptionLabel.tsx';

const REFRESH_MS = 3_000;

/** One delivery with every attempt, the newest first, and a way to send it once more. */
export function DeliveryDrawer({ guid, onClose }: { guid: string; onClose: () => void }) {
  const { api, can } = useWorkspace();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: [api.key, '/subscription_deliveries', guid],
    queryFn: ({ signal }) => api.get<DetailedDelivery>(`/subscription_deliveries/${guid}`, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const resend = useMutation({
    mutationFn: (delivery: Delivery) =>
      api.post<Delivery>('/subscription_deliveries', {
        subscription_event_guid: delivery.subscription_event_guid,
        subscription_guid: delivery.subscription_guid,
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [api.key, '/subscription_deliveries'] });
      tell('Sent once more, as a new delivery.');
      onClose();
    },
    onError: tellProblem,
  });
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title="Delivery">
      {error && !data ? <Failure error={error} onRetry={() => void refetch()} /> : null}
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
            {can('subscription_events:execute') ? (
              <Button
                variant="light"
                leftSection={<Icon name="send" size={16} />}
                loading={resend.isPending}
                onClick={() => resend.mutate(data)}
              >
                Resend
              </Button>
            ) : null}
          </Group>
          <Group gap="xl">
            <SubscriptionLabel guid={data.subscription_guid} />
            <Guid value={data.guid} name="delivery guid" />
          </Group>
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
