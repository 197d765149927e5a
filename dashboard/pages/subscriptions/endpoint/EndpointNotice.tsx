import { Alert, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { Subscription } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { waitingLabel } from '../../../shared/endpoints/endpoint-labels.ts';
import { useEndpointsByGuid } from '../../../shared/endpoints/use-endpoints.ts';
import { Icon } from '../../../shared/text/Icon.tsx';
import { RelativeTime } from '../../../shared/time/RelativeTime.tsx';
import { PauseSubscription } from './PauseSubscription.tsx';

const REFRESH_MS = 5_000;

/** Says why deliveries wait, and how many: the subscription is paused, or its URL has not answered yet. */
export function EndpointNotice({ subscription }: { subscription: Subscription }) {
  const { can } = useWorkspace();
  const [resuming, setResuming] = useState(false);
  const { guid, state, url, paused_at: pausedAt } = subscription;
  const waits = pausedAt !== undefined || state === 'storing';
  const endpoint = useEndpointsByGuid(REFRESH_MS).get(guid);
  if (!waits || state === 'failed') return null;
  return (
    <Alert
      color={pausedAt ? 'yellow' : 'blue'}
      variant="light"
      icon={<Icon name={pausedAt ? 'pause' : 'info'} />}
      title={`${pausedAt ? 'Paused' : 'Waiting for first 2xx'} · ${endpoint ? waitingLabel(endpoint) : '…'} waiting`}
      role="status"
    >
      <Group justify="space-between" gap="sm">
        <Text size="sm" component="div" style={{ flex: '1 1 20rem', overflowWrap: 'anywhere' }}>
          {pausedAt ? (
            <>
              Paused <RelativeTime at={pausedAt} />. Deliveries wait until you resume; each fails 7 days after
              its creation.
            </>
          ) : (
            <>
              {url} receives only its first event and its retries. Everything else is sent once it has
              answered with 2xx.
            </>
          )}
        </Text>
        {pausedAt && can('subscriptions:write') ? (
          <Button
            size="compact-sm"
            leftSection={<Icon name="play" size={14} />}
            onClick={() => setResuming(true)}
          >
            Resume
          </Button>
        ) : null}
      </Group>
      {resuming ? <PauseSubscription subscription={subscription} onClose={() => setResuming(false)} /> : null}
    </Alert>
  );
}
