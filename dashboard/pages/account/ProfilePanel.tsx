import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { people } from '../../api/people.ts';
import { Failure } from '../../shared/Failure.tsx';
import { tell } from '../../shared/notify.ts';
import { Panel } from '../../shared/Panel.tsx';
import { SESSION_KEY } from '../../shell/session.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';

export function ProfilePanel() {
  const { session } = useWorkspace();
  const queries = useQueryClient();
  const { name: current = '', email } = session.member;
  const [name, setName] = useState(current);
  const rename = useMutation({
    mutationFn: () => people.rename(name.trim()),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: SESSION_KEY });
      tell('Saved.');
    },
  });
  const changed = name.trim() !== '' && name.trim() !== current;
  return (
    <Panel title="Profile">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (changed) rename.mutate();
        }}
      >
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {email}
          </Text>
          <Group align="flex-end">
            <TextInput
              flex={1}
              label="Name"
              description="How your team sees you"
              maxLength={128}
              autoComplete="name"
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            <Button type="submit" variant="default" disabled={!changed} loading={rename.isPending}>
              Save
            </Button>
          </Group>
          {rename.error ? <Failure error={rename.error} /> : null}
        </Stack>
      </form>
    </Panel>
  );
}
