import { Text, Tooltip } from '@mantine/core';
import { formatAbsoluteTime, formatExactTime } from '../time/format-time.ts';
import { useNow } from '../time/NowProvider.tsx';
import { useTimeForm } from '../time/time-form.tsx';

const DAY_MS = 24 * 3_600_000;
const time = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' });

/** "16:35"; from a day on "Nov 15, 16:35". In full for a user who chose UTC. */
export function Since({ at }: { at: string }) {
  const moment = new Date(at);
  const { form } = useTimeForm();
  const isToday = useNow() - moment.getTime() < DAY_MS;
  return (
    <Tooltip label={formatExactTime(at)} events={{ hover: true, focus: true, touch: true }}>
      <Text component="time" dateTime={at} inherit tabIndex={0} style={{ whiteSpace: 'nowrap' }}>
        {form === 'utc'
          ? formatAbsoluteTime(at, form)
          : isToday
            ? time.format(moment)
            : `${day.format(moment)}, ${time.format(moment)}`}
      </Text>
    </Tooltip>
  );
}
