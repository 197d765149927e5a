import { Text } from '@mantine/core';
import { useNow } from '../time/NowProvider.tsx';
import { RelativeTime } from '../time/RelativeTime.tsx';

/** When it is sent again; one whose time has come waits for its turn. */
export function NextAttempt({ at }: { at: string }) {
  const isDue = Date.parse(at) <= useNow();
  return (
    <Text size="xs" c="dimmed" component="div" data-next-attempt>
      {isDue ? (
        'next one is due'
      ) : (
        <>
          next <RelativeTime at={at} isAhead />
        </>
      )}
    </Text>
  );
}
