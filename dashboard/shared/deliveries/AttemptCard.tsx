import { Button, Group, Paper, Text } from '@mantine/core';
import { useState } from 'react';
import type { Attempt, DetailedDelivery } from '../../api/types.ts';
import { StateBadge } from '../text/StateBadge.tsx';
import { Duration } from '../time/Duration.tsx';
import { RelativeTime } from '../time/RelativeTime.tsx';
import styles from './AttemptCard.module.css';
import { AttemptExchange } from './exchange/AttemptExchange.tsx';
import { RequestedBy } from './RequestedBy.tsx';

const OUTCOMES = {
  completed: 'Successful',
  rejected: 'Rejected',
  timeout: 'Timed out',
  unreachable: 'Unreachable',
} as const;

/** Opens to the request and response if the delivery is given. */
export function AttemptCard({
  attempt,
  delivery,
  isNewest = false,
}: {
  attempt: Attempt;
  delivery?: DetailedDelivery;
  /** Is open until the user closes it. */
  isNewest?: boolean;
}) {
  const [chosen, setChosen] = useState<boolean>();
  const opened = chosen ?? isNewest;
  return (
    <Paper withBorder p="sm" radius="md" component="section" aria-label={`Attempt ${attempt.number}`}>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            #{attempt.number}
          </Text>
          <StateBadge state={attempt.outcome} label={OUTCOMES[attempt.outcome]} />
          {attempt.response_status ? (
            <Text size="sm" ff="monospace">
              {attempt.response_status}
            </Text>
          ) : null}
          <Text size="xs" c="dimmed">
            <RequestedBy requester={attempt.requested_by} />
          </Text>
        </Group>
        <Group gap="md" fz="sm">
          <Duration ms={attempt.duration_ms} slow={attempt.slow} />
          <RelativeTime at={attempt.attempted_at} />
          {delivery ? (
            <Button
              variant="subtle"
              size="compact-sm"
              aria-expanded={opened}
              onClick={() => setChosen(!opened)}
            >
              {opened ? 'Hide' : 'Details'}
            </Button>
          ) : null}
        </Group>
      </Group>
      {opened && delivery ? (
        <AttemptExchange attempt={attempt} delivery={delivery} />
      ) : (
        <>
          {attempt.reason ? (
            <Text size="sm" c="dimmed" mt={6}>
              {attempt.reason}
            </Text>
          ) : null}
          {attempt.response_excerpt ? <pre className={styles.excerpt}>{attempt.response_excerpt}</pre> : null}
        </>
      )}
    </Paper>
  );
}
