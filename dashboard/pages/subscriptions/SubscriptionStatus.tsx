import { Group, Stack, Text } from '@mantine/core';
import { FAILS_AFTER_MS } from '../../../server/subscriptions/state.ts';
import type { Subscription } from '../../api/types.ts';
import { useIsStopped } from '../../shared/deliveries/use-delivering-subscriptions.ts';
import { Icon } from '../../shared/text/Icon.tsx';
import { formatRemaining } from '../../shared/time/format-time.ts';
import { useNow } from '../../shared/time/NowProvider.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';

/** What will happen to it by itself, and when. */
export function Trouble({ subscription }: { subscription: Subscription }) {
  const now = useNow();
  const isStopped = useIsStopped(subscription);
  const { state, deliveries_failing_since: since, scheduled_deletion_at: deletion } = subscription;
  if (state === 'failed')
    return (
      <Text size="sm" c="red">
        Stopped; create a new one
      </Text>
    );
  if (isStopped) return <Text size="sm">Stopped by the operator</Text>;
  if (!since && !deletion)
    return (
      <Text size="sm" c="dimmed">
        {state === 'storing' ? 'Waiting for the first 2xx. Other events wait until then.' : 'None'}
      </Text>
    );
  return (
    <Stack gap={2}>
      {since ? (
        <Group gap={6} wrap="nowrap">
          <Icon name="warning" size={14} style={{ color: 'var(--mantine-color-orange-filled)' }} />
          <Text size="sm" component="div">
            Failing, first <RelativeTime at={since} />
            <Text size="xs" c="dimmed">
              Fails for good in{' '}
              {formatRemaining(new Date(Date.parse(since) + FAILS_AFTER_MS).toISOString(), now)}
              {state === 'storing' ? '. Other events wait for the first 2xx.' : null}
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
