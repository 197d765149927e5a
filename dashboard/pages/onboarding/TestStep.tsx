import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { DetailedDelivery, Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { AttemptCard } from '../../shared/deliveries/AttemptCard.tsx';
import { DeliveryOutcome } from '../../shared/deliveries/DeliveryOutcome.tsx';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { useSubscriptionApi } from '../subscriptions/use-subscription-api.ts';

const POLL_MS = 1_000;

export function TestStep({ subscription, onDone }: { subscription: Subscription; onDone: () => void }) {
  const { api } = useWorkspace();
  const { sendTest } = useSubscriptionApi();
  const send = useMutation({ mutationFn: () => sendTest(subscription.guid) });
  const sent = send.data;
  const { data: delivery } = useQuery({
    queryKey: [api.key, '/subscription_deliveries', sent?.guid],
    queryFn: () => api.get<DetailedDelivery>(`/subscription_deliveries/${sent?.guid}`),
    enabled: sent !== undefined,
    refetchInterval: ({ state }) => (state.data?.state === 'completed' ? false : POLL_MS),
  });
  const isDelivered = delivery?.state === 'completed';
  return (
    <Stack maw={620} py="sm">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        The test event <code>subscription.storing</code> is sent to {subscription.url}.{' '}
        {isInbox(subscription) ? (
          <>
            It appears in the{' '}
            <PageLink to="/inbox" inherit underline="always">
              inbox
            </PageLink>
            .
          </>
        ) : (
          'Respond with any 2xx status.'
        )}
      </Text>
      {delivery ? (
        <Group gap="xs" role="status">
          <DeliveryOutcome delivery={delivery} />
          <Text size="sm">
            {isDelivered
              ? 'Delivered.'
              : delivery.attempt_count > 0
                ? 'Retrying automatically …'
                : delivery.next_attempt_at === undefined
                  ? 'Waiting for the first 2xx response. The first event of the subscription is being retried …'
                  : 'Sending …'}
          </Text>
        </Group>
      ) : null}
      {delivery?.attempts.at(-1) ? (
        <AttemptCard
          attempt={delivery.attempts.at(-1) as DetailedDelivery['attempts'][number]}
          delivery={delivery}
        />
      ) : null}
      {send.error ? <ErrorAlert error={send.error} /> : null}
      <Group>
        <Button
          variant={isDelivered ? 'default' : 'filled'}
          leftSection={<Icon name="send" size={16} />}
          loading={send.isPending}
          onClick={() => send.mutate()}
        >
          {sent ? 'Send another' : 'Send test event'}
        </Button>
        <Button variant={isDelivered ? 'filled' : 'subtle'} onClick={onDone}>
          {isDelivered ? 'Continue' : 'Skip'}
        </Button>
      </Group>
    </Stack>
  );
}

function isInbox({ url }: Subscription): boolean {
  return url.includes('/portico-inbox/');
}
