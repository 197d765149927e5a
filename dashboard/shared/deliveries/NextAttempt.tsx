import { Text } from '@mantine/core';
import { useNow } from '../time/NowProvider.tsx';
import { RelativeTime } from '../time/RelativeTime.tsx';

export function NextAttempt({ at }: { at: string }) {
  const isDue = Date.parse(at) <= useNow();
  return (
    <Text size="xs" c="dimmed" component="div" data-next-attempt>
      {isDue ? (
        'next attempt due'
      ) : (
        <>
          next attempt <RelativeTime at={at} isFuture />
        </>
      )}
    </Text>
  );
}
