import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import type { Recovery } from '../../api/types.ts';
import { StateBadge } from '../../shared/text/StateBadge.tsx';

export function RedeliveryProgress({ recovery, onClose }: { recovery: Recovery; onClose: () => void }) {
  const { total, done, state } = recovery;
  const share = total === 0 ? 100 : (done / total) * 100;
  return (
    <Stack>
      <Group justify="space-between">
        <StateBadge state={state} />
        <Text size="sm" role="status">
          {total === 0
            ? 'Nothing failed in that time'
            : `${done.toLocaleString('en')} of ${total.toLocaleString('en')} sent again`}
        </Text>
      </Group>
      <Progress value={share} size="lg" animated={state === 'running'} aria-label="How far the recovery is" />
      {state === 'failed' ? (
        <Text size="sm" c="red">
          The subscription stopped delivering on the way.
        </Text>
      ) : null}
      {state === 'running' ? (
        <Text size="sm" c="dimmed">
          It goes on by itself when you close this.
        </Text>
      ) : null}
      <Group justify="flex-end">
        <Button onClick={onClose}>Close</Button>
      </Group>
    </Stack>
  );
}
