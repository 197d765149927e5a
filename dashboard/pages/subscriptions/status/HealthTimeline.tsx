import { Group, Text, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { EndpointTimeline, Range } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import type { TimeAxis } from '../../../shared/chart/BarChart.tsx';
import { formatExactTime } from '../../../shared/time/format-time.ts';
import { RelativeTime } from '../../../shared/time/RelativeTime.tsx';
import styles from './HealthTimeline.module.css';

const REFRESH_MS = 15_000;
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
export function HealthTimeline({ guid, range, axis }: { guid: string; range: Range; axis: TimeAxis }) {
  const { api } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/endpoint_health', guid, 'timeline', range],
    queryFn: ({ signal }) =>
      api.get<EndpointTimeline>(`/endpoint_health/${guid}/timeline`, { query: { range }, signal }),
    refetchInterval: REFRESH_MS,
  });
  if (!data) return <div className={styles.strip} style={{ marginLeft: axis.leftPx }} />;
  const share = (moment: string) =>
    Math.max(0, Math.min(1, (Date.parse(moment) - axis.from) / (axis.to - axis.from)));
  const newest = data.changes.toReversed().slice(0, MAX_LISTED);
  return (
    <section aria-label="Health timeline" className={styles.timeline}>
      <div className={styles.strip} style={{ marginLeft: axis.leftPx }}>
        {data.periods.map(({ from, to, health }) => (
          <Tooltip key={from} label={`${HEALTH_LABELS[health]} · ${formatExactTime(from)}`}>
            <div
              className={styles.period}
              data-health={health}
              style={{ left: `${share(from) * 100}%`, width: `${(share(to) - share(from)) * 100}%` }}
            />
          </Tooltip>
        ))}
        {data.changes.map(({ at, kind }) => (
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
