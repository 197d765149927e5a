import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useWorkspace } from '../../session/workspace.ts';
import { Panel } from '../../shared/page/Panel.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { RemoveTotp } from './RemoveTotp.tsx';
import { SetUpTotp } from './SetUpTotp.tsx';

export function TotpPanel() {
  const { session } = useWorkspace();
  const [dialog, setDialog] = useState<'set up' | 'remove'>();
  const close = () => setDialog(undefined);
  const isOn = session.member.has_totp;
  return (
    <Panel title="Authenticator app" hint="Log in with your password and a code from your phone">
      <Group justify="space-between">
        <Group gap="xs" c={isOn ? 'teal' : 'dimmed'}>
          <Icon name="shield" />
          <Text size="sm" c="inherit" fw={550}>
            {isOn ? 'On' : 'Off'}
          </Text>
        </Group>
        {isOn ? (
          <Button variant="default" onClick={() => setDialog('remove')}>
            Turn off
          </Button>
        ) : (
          <Button variant="light" onClick={() => setDialog('set up')}>
            Set up
          </Button>
        )}
      </Group>
      {dialog === 'set up' ? <SetUpTotp onClose={close} /> : null}
      {dialog === 'remove' ? <RemoveTotp onClose={close} /> : null}
    </Panel>
  );
}
