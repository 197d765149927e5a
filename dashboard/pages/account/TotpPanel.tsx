import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useWorkspace } from '../../session/workspace.ts';
import { Panel } from '../../shared/page/Panel.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { RemoveTotp } from './RemoveTotp.tsx';
import { SetUpTotp } from './SetUpTotp.tsx';

/** The second factor that every authenticator app knows. */
export function TotpPanel() {
  const { session } = useWorkspace();
  const [doing, setDoing] = useState<'set up' | 'remove'>();
  const close = () => setDoing(undefined);
  const isOn = session.member.has_totp;
  return (
    <Panel title="Authenticator app" hint="A code from your phone besides the password">
      <Group justify="space-between">
        <Group gap="xs" c={isOn ? 'teal' : 'dimmed'}>
          <Icon name="shield" />
          <Text size="sm" c="inherit" fw={550}>
            {isOn ? 'On' : 'Off'}
          </Text>
        </Group>
        {isOn ? (
          <Button variant="default" onClick={() => setDoing('remove')}>
            Turn off
          </Button>
        ) : (
          <Button variant="light" onClick={() => setDoing('set up')}>
            Set up
          </Button>
        )}
      </Group>
      {doing === 'set up' ? <SetUpTotp onClose={close} /> : null}
      {doing === 'remove' ? <RemoveTotp onClose={close} /> : null}
    </Panel>
  );
}
