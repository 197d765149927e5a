import { Text } from '@mantine/core';
import { Moment } from './Moment.tsx';
import { useNow } from './NowProvider.tsx';

/** When it is sent again; one whose time has come waits for its turn. */
export function NextAttempt({ at }: { at: string }) {
  const isDue = Date.parse(at) <= useNow();
  return (
    <Text size="xs" c="dimmed" component="div" data-next-attempt>
      {isDue ? (
        'next one is due'
      ) : (
        <>
          next <Moment at={at} isAhead />
        </>
      )}
    </Text>
  );
}
