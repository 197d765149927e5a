import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Subscription } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { Icon } from '../../../shared/text/Icon.tsx';
import { ChangeUrl } from './ChangeUrl.tsx';
import { PauseSubscription } from './PauseSubscription.tsx';

export function EndpointActions({ subscription }: { subscription: Subscription }) {
  const { can } = useWorkspace();
  const [dialog, setDialog] = useState<'url' | 'pause'>();
  const close = () => setDialog(undefined);
  const { state, paused_at: pausedAt } = subscription;
  if (!can('subscriptions:write') || state === 'failed' || state === 'deleting') return null;
  return (
    <>
      <Button variant="default" onClick={() => setDialog('url')}>
        Change URL
      </Button>
      {pausedAt === undefined ? (
        <Button
          variant="default"
          leftSection={<Icon name="pause" size={16} />}
          onClick={() => setDialog('pause')}
        >
          Pause
        </Button>
      ) : null}
      {dialog === 'url' ? <ChangeUrl subscription={subscription} onClose={close} /> : null}
      {dialog === 'pause' ? <PauseSubscription subscription={subscription} onClose={close} /> : null}
    </>
  );
}
