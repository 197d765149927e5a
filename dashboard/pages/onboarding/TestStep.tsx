import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { DetailedDelivery, Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { AttemptCard } from '../../shared/deliveries/AttemptCard.tsx';
import { DeliveryOutcome } from '../../shared/deliveries/DeliveryOutcome.tsx';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { useSubscriptionApi } from '../subscriptions/use-subscription-api.ts';

const LOOK_EVERY_MS = 1_000;

export function TestStep({ subscription, onDone }: { subscription: Subscription; onDone: () => void }) {
  const { api } = useWorkspace();
  const { sendTest } = useSubscriptionApi();
  const send = useMutation({ mutationFn: () => sendTest(subscription.guid) });
  const sent = send.data;
  const { data: delivery } = useQuery({
    queryKey: [api.key, '/subscription_deliveries', sent?.guid],
    queryFn: () => api.get<DetailedDelivery>(`/subscription_deliveries/${sent?.guid}`),
    enabled: sent !== undefined,
    refetchInterval: ({ state }) => (state.data?.state === 'completed' ? false : LOOK_EVERY_MS),
  });
  const arrived = delivery?.state === 'completed';
  return (
    <Stack maw={620} py="sm">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        A <code>subscription.storing</code> about this very subscription goes to {subscription.url}. Answer it
        with any 2xx.
      </Text>
      {delivery ? (
        <Group gap="xs" role="status">
          <DeliveryOutcome delivery={delivery} />
          <Text size="sm">
            {arrived
              ? 'It arrived.'
              : delivery.attempt_count > 0
                ? 'It is sent again by itself …'
                : delivery.next_attempt_at === undefined
                  ? 'Waiting for the first 2xx. The first event of the subscription is retried …'
                  : 'On its way …'}
          </Text>
        </Group>
      ) : null}
      {delivery?.attempts.at(-1) ? (
        <AttemptCard attempt={delivery.attempts.at(-1) as DetailedDelivery['attempts'][number]} />
      ) : null}
      {send.error ? <ErrorAlert error={send.error} /> : null}
      <Group>
        <Button
          variant={arrived ? 'default' : 'filled'}
          leftSection={<Icon name="send" size={16} />}
          loading={send.isPending}
          onClick={() => send.mutate()}
        >
          {sent ? 'Send another' : 'Send the test event'}
        </Button>
        <Button variant={arrived ? 'filled' : 'subtle'} onClick={onDone}>
          {arrived ? 'Continue' : 'Skip'}
        </Button>
      </Group>
    </Stack>
  );
}
