import { Group, Text, Tooltip } from '@mantine/core';
import { SLOW_MS } from '../../../server/webhooks/deliveries/queue/lanes/limit.ts';
import { Icon } from '../text/Icon.tsx';
import { NoValue } from '../text/NoValue.tsx';
import { formatDuration } from './format-time.ts';

export function Duration({ ms, slow }: { ms: number | undefined; slow?: boolean }) {
  if (ms === undefined) return <NoValue />;
  const isSlow = slow ?? ms > SLOW_MS;
  return (
    <Group gap={4} wrap="nowrap">
      <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
        {formatDuration(ms)}
      </Text>
      {isSlow ? (
        <Tooltip label="Slow: endpoints should respond within 2 seconds">
          <Text span c="orange" lh={1} role="img" aria-label="slow">
            <Icon name="warning" size={14} />
          </Text>
        </Tooltip>
      ) : null}
    </Group>
  );
}
