import { Group, Text, Tooltip } from '@mantine/core';
import type { EndpointTimeline } from '../../../api/types.ts';
import type { TimeAxis } from '../../../shared/chart/BarChart.tsx';
import { formatExactTime } from '../../../shared/time/format-time.ts';
import { RelativeTime } from '../../../shared/time/RelativeTime.tsx';
import styles from './HealthTimeline.module.css';

const MAX_LISTED = 6;

type Change = EndpointTimeline['changes'][number];

const HEALTH_LABELS: Record<EndpointTimeline['periods'][number]['health'], string> = {
  unknown: 'No attempts',
  healthy: 'Healthy',
  partly_failing: 'Partly failing',
  failing: 'Failing',
  paused: 'Paused',
  disabled: 'Disabled',
  failed: 'Failed permanently',
};
const CHANGE_LABELS: Record<Change['kind'], string> = {
  created: 'Created',
  failing: 'Started failing',
  recovered: 'Recovered',
  failed: 'Failed permanently',
  disabled: 'Disabled by the operator',
  enabled: 'Enabled by the operator',
  paused: 'Paused',
  resumed: 'Resumed',
  url_changed: 'URL changed',
  key_rolled: 'Signing key rolled',
  deletion_scheduled: 'Deletion scheduled',
};

/** A strip of periods over the chart, and the newest changes in words. */
export function HealthTimeline({
  timeline,
  axis,
}: {
  timeline: EndpointTimeline | undefined;
  axis: TimeAxis;
}) {
  if (!timeline)
    return (
      <div className={styles.timeline}>
        <div className={styles.strip} style={{ marginLeft: axis.leftPx }} />
      </div>
    );
  const share = (moment: string) =>
    Math.max(0, Math.min(1, (Date.parse(moment) - axis.from) / (axis.to - axis.from)));
  const newest = timeline.changes.toReversed().slice(0, MAX_LISTED);
  return (
    <section aria-label="Health timeline" className={styles.timeline}>
      <div className={styles.strip} style={{ marginLeft: axis.leftPx }}>
        {timeline.periods.map(({ from, to, health }) => (
          <Tooltip key={from} label={`${HEALTH_LABELS[health]} · ${formatExactTime(from)}`}>
            <div
              className={styles.period}
              data-health={health}
              style={{ left: `${share(from) * 100}%`, width: `${(share(to) - share(from)) * 100}%` }}
            />
          </Tooltip>
        ))}
        {timeline.changes.map(({ at, kind }) => (
          <Tooltip key={`${at}${kind}`} label={`${CHANGE_LABELS[kind]} · ${formatExactTime(at)}`}>
            <div className={styles.change} style={{ left: `${share(at) * 100}%` }} />
          </Tooltip>
        ))}
      </div>
      {newest.length === 0 ? null : (
        <Group component="ul" gap="xs" className={styles.changes}>
          {newest.map(({ at, kind }) => (
            <Text key={`${at}${kind}`} component="li" size="xs" c="dimmed">
              {CHANGE_LABELS[kind]} <RelativeTime at={at} />
            </Text>
          ))}
        </Group>
      )}
    </section>
  );
}
