import { Group, Stack, Text } from '@mantine/core';
import { FAILS_AFTER_MS } from '../../../../server/webhooks/subscriptions/state.ts';
import type { Subscription } from '../../../api/types.ts';
import { useIsDisabled } from '../../../shared/deliveries/use-delivering-subscriptions.ts';
import { Icon } from '../../../shared/text/Icon.tsx';
import { formatRemaining } from '../../../shared/time/format-time.ts';
import { useNow } from '../../../shared/time/NowProvider.tsx';
import { RelativeTime } from '../../../shared/time/RelativeTime.tsx';

/** Failures and scheduled changes of the subscription. */
export function SubscriptionHealth({ subscription }: { subscription: Subscription }) {
  const now = useNow();
  const isDisabled = useIsDisabled(subscription);
  const { state, deliveries_failing_since: since, scheduled_deletion_at: deletion } = subscription;
  const { paused_at: pausedAt } = subscription;
  if (state === 'failed')
    return (
      <Text size="sm" c="red">
        Failed permanently. Create a new subscription.
      </Text>
    );
  if (isDisabled) return <Text size="sm">Disabled by the operator</Text>;
  if (pausedAt !== undefined && !deletion)
    return (
      <Text size="sm" component="div">
        Paused <RelativeTime at={pausedAt} />
      </Text>
    );
  if (!since && !deletion)
    return (
      <Text size="sm" c="dimmed">
        {state === 'storing' ? 'Waiting for the first 2xx response. Other events are held.' : 'Healthy'}
      </Text>
    );
  return (
    <Stack gap={2}>
      {since ? (
        <Group gap={6} wrap="nowrap">
          <Icon name="warning" size={14} style={{ color: 'var(--mantine-color-orange-filled)' }} />
          <Text size="sm" component="div">
            First failed <RelativeTime at={since} />
            <Text size="xs" c="dimmed">
              Fails permanently in{' '}
              {formatRemaining(new Date(Date.parse(since) + FAILS_AFTER_MS).toISOString(), now)}
              {state === 'storing' ? '. Other events are held until the first 2xx response.' : null}
            </Text>
          </Text>
        </Group>
      ) : null}
      {deletion ? (
        <Text size="sm" data-countdown>
          Deleted in {formatRemaining(deletion, now)}
        </Text>
      ) : null}
    </Stack>
  );
}
