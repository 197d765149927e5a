import { Button, Group, Stack, Text } from '@mantine/core';
import type { Recovery } from '../../../api/types.ts';
import { CancelRedelivery } from './CancelRedelivery.tsx';
import { RedeliveryBadge } from './RedeliveryBadge.tsx';
import { RedeliveryBar } from './RedeliveryBar.tsx';

/** The progress of the job that the dialog has started. */
export function RedeliveryProgress({ redelivery, onClose }: { redelivery: Recovery; onClose: () => void }) {
  const { state, redelivered } = redelivery;
  return (
    <Stack>
      <Group justify="space-between">
        <RedeliveryBadge redelivery={redelivery} />
      </Group>
      <RedeliveryBar redelivery={redelivery} />
      {state === 'running' ? (
        <Text size="sm" c="dimmed">
          You can close this dialog. The redelivery continues in the background and is listed on the page of
          the subscription.
        </Text>
      ) : null}
      {state === 'completed' && redelivered !== 0 ? (
        <Text size="sm" c="dimmed">
          Deliveries are sent as fast as your endpoint answers. The list of deliveries shows whether they
          arrived.
        </Text>
      ) : null}
      <Group justify="flex-end">
        <CancelRedelivery redelivery={redelivery} />
        <Button onClick={onClose}>Close</Button>
      </Group>
    </Stack>
  );
}
