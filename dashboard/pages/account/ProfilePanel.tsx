import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { accountApi } from '../../api/account.ts';
import { useRefreshSession } from '../../session/session.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { useLeaveGuard } from '../../shared/forms/LeaveGuard.tsx';
import { Panel } from '../../shared/page/Panel.tsx';

export function ProfilePanel() {
  const { session } = useWorkspace();
  const refreshSession = useRefreshSession();
  const { name: current = '', email } = session.member;
  const [name, setName] = useState(current);
  const rename = useMutation({
    mutationFn: () => accountApi.rename(name.trim()),
    onSuccess: async () => {
      await refreshSession();
      notifySuccess('Profile saved.');
    },
  });
  const changed = name.trim() !== '' && name.trim() !== current;
  useLeaveGuard(() => name.trim() !== current);
  return (
    <Panel title="Profile">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (changed) rename.mutate();
        }}
      >
        <Stack gap="sm">
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {email}
          </Text>
          <Group align="flex-end">
            <TextInput
              flex={1}
              label="Name"
              description="Shown to your team"
              maxLength={128}
              autoComplete="name"
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            <Button type="submit" variant="default" disabled={!changed} loading={rename.isPending}>
              Save
            </Button>
          </Group>
          {rename.error ? <ErrorAlert error={rename.error} /> : null}
        </Stack>
      </form>
    </Panel>
  );
}
