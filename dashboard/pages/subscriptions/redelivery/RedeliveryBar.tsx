import { Progress, Stack, Text } from '@mantine/core';
import type { Recovery } from '../../../api/types.ts';
import { outcomeOf } from './kinds.ts';

/** A bar that moves while the job runs; without a bar when there was nothing to do. */
export function RedeliveryBar({ redelivery }: { redelivery: Recovery }) {
  const { total, done, state } = redelivery;
  const { state: shown, text, color } = outcomeOf(redelivery);
  return (
    <Stack gap={4} miw={180}>
      {shown === 'empty' ? null : (
        <Progress
          value={total === 0 ? 0 : (done / total) * 100}
          color={color}
          size="lg"
          w="100%"
          animated={state === 'running'}
          aria-label="Redelivery progress"
        />
      )}
      <Text size="sm" role="status">
        {text}
      </Text>
    </Stack>
  );
}
