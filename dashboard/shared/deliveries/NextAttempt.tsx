import { Text } from '@mantine/core';
import { useNow } from '../time/NowProvider.tsx';
import { RelativeTime } from '../time/RelativeTime.tsx';

/** `short` where a heading says that these are attempts. */
export function NextAttempt({ at, short = false }: { at: string; short?: boolean }) {
  const next = short ? 'next' : 'next attempt';
  const isDue = Date.parse(at) <= useNow();
  return (
    <Text size="xs" c="dimmed" component="div" data-next-attempt style={{ whiteSpace: 'nowrap' }}>
      {isDue ? (
        `${next} due`
      ) : (
        <>
          {next} <RelativeTime at={at} isFuture />
        </>
      )}
    </Text>
  );
}
