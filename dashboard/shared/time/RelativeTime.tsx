import { Text, Tooltip } from '@mantine/core';
import { formatAbsoluteTime, formatExactTime, formatRelativeTime } from './format-time.ts';
import { useNow } from './NowProvider.tsx';
import { useTimeForm } from './time-form.tsx';

/**
 * Relative, local or UTC as the user chose. Focusable, so that keyboard users get the tooltip with the exact time. Past
 * times never appear as future, even if the clock of the browser is behind the server's.
 */
export function RelativeTime({ at, isFuture = false }: { at: string | undefined; isFuture?: boolean }) {
  const now = useNow();
  const { form } = useTimeForm();
  if (at === undefined)
    return (
      <Text size="sm" c="dimmed">
        Never
      </Text>
    );
  return (
    <Tooltip label={formatExactTime(at)} events={{ hover: true, focus: true, touch: true }}>
      <Text component="time" dateTime={at} inherit tabIndex={0} style={{ whiteSpace: 'nowrap' }}>
        {form === 'relative'
          ? formatRelativeTime(at, isFuture ? now : Math.max(now, Date.parse(at)))
          : formatAbsoluteTime(at, form)}
      </Text>
    </Tooltip>
  );
}
