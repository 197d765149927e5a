import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import type { Recovery } from '../../api/types.ts';
import { StateBadge } from '../../shared/text/StateBadge.tsx';

export function RedeliveryProgress({ redelivery, onClose }: { redelivery: Recovery; onClose: () => void }) {
  const { total, done, state } = redelivery;
  const percent = total === 0 ? 100 : (done / total) * 100;
  return (
    <Stack>
      <Group justify="space-between">
        <StateBadge state={state} />
        <Text size="sm" role="status">
          {total === 0
            ? 'No failed deliveries in this period'
            : `${done.toLocaleString('en')} of ${total.toLocaleString('en')} redelivered`}
        </Text>
      </Group>
      <Progress value={percent} size="lg" animated={state === 'running'} aria-label="Redelivery progress" />
      {state === 'failed' ? (
        <Text size="sm" c="red">
          The subscription stopped delivering before all events were redelivered.
        </Text>
      ) : null}
      {state === 'running' ? (
        <Text size="sm" c="dimmed">
          You can close this dialog. The redelivery continues in the background.
        </Text>
      ) : null}
      <Group justify="flex-end">
        <Button onClick={onClose}>Close</Button>
      </Group>
    </Stack>
  );
}
