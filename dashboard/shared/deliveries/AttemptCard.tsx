import { Group, Paper, Text } from '@mantine/core';
import type { Attempt } from '../../api/types.ts';
import { StateBadge } from '../text/StateBadge.tsx';
import { Duration } from '../time/Duration.tsx';
import { RelativeTime } from '../time/RelativeTime.tsx';
import styles from './AttemptCard.module.css';

export function AttemptCard({ attempt }: { attempt: Attempt }) {
  return (
    <Paper withBorder p="sm" radius="md">
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            #{attempt.number}
          </Text>
          <StateBadge state={attempt.outcome} />
          {attempt.response_status ? (
            <Text size="sm" ff="monospace">
              {attempt.response_status}
            </Text>
          ) : null}
        </Group>
        <Group gap="md" fz="sm">
          <Duration ms={attempt.duration_ms} slow={attempt.slow} />
          <RelativeTime at={attempt.attempted_at} />
        </Group>
      </Group>
      {attempt.reason ? (
        <Text size="sm" c="dimmed" mt={6}>
          {attempt.reason}
        </Text>
      ) : null}
      {attempt.response_excerpt ? <pre className={styles.excerpt}>{attempt.response_excerpt}</pre> : null}
    </Paper>
  );
}
