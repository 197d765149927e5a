import { Text, Tooltip } from '@mantine/core';
import { formatExactTime, formatRelativeTime } from './format-time.ts';
import { useNow } from './NowProvider.tsx';

/**
 * Relative, with the exact time on hover, on touch and on focus, for which it can be reached by the keyboard. What has
 * been is never shown as to come, though the page's clock ticks seldom and may be behind the server's.
 */
export function RelativeTime({ at, isAhead = false }: { at: string | undefined; isAhead?: boolean }) {
  const now = useNow();
  if (at === undefined)
    return (
      <Text size="sm" c="dimmed">
        Never
      </Text>
    );
  return (
    <Tooltip label={formatExactTime(at)} events={{ hover: true, focus: true, touch: true }}>
      <Text component="time" dateTime={at} inherit tabIndex={0} style={{ whiteSpace: 'nowrap' }}>
        {formatRelativeTime(at, isAhead ? now : Math.max(now, Date.parse(at)))}
      </Text>
    </Tooltip>
  );
}
