import { Text, Tooltip } from '@mantine/core';
import { exactTime, relativeTime } from './moments.ts';
import { useNow } from './NowProvider.tsx';

/**
 * Relative, with the exact time on hover, on touch and on focus, for which it can be reached by the keyboard. What has
 * been is never shown as to come, though the page's clock ticks seldom and may be behind the server's.
 */
export function Moment({ at, isAhead = false }: { at: string | undefined; isAhead?: boolean }) {
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
        {relativeTime(at, isAhead ? now : Math.max(now, Date.parse(at)))}
      </Text>
    </Tooltip>
  );
}
