import { Text, Tooltip } from '@mantine/core';
import { exactTime, relativeTime } from './moments.ts';
import { useNow } from './NowProvider.tsx';

/** Relative, with the exact time on hover, on touch and on focus, for which it can be reached by the keyboard. */
export function Moment({ at }: { at: string | undefined }) {
  const now = useNow();
  if (at === undefined)
    return (
      <Text size="sm" c="dimmed">
        Never
      </Text>
    );
  return (
    <Tooltip label={exactTime(at)} events={{ hover: true, focus: true, touch: true }}>
      <Text component="time" dateTime={at} inherit tabIndex={0} style={{ whiteSpace: 'nowrap' }}>
        {relativeTime(at, now)}
      </Text>
    </Tooltip>
  );
}
