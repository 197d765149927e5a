import { Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { people } from '../../api/people.ts';
import { Failure } from '../../shared/Failure.tsx';
import { SESSION_KEY } from '../../shell/session.ts';

export function RemoveTotp({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [password, setPassword] = useState('');
  const remove = useMutation({
    mutationFn: () => people.removeTotp(password),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: SESSION_KEY });
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title="Turn off the authenticator app" centered>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          remove.mutate();
        }}
      >
        <Stack>
          <Text size="sm">From then on the password alone is enough, and the recovery codes are void.</Text>
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            data-autofocus
            required
            withAsterisk={false}
            value={password}
            onChange={({ currentTarget }) => setPassword(currentTarget.value)}
          />
          {remove.error ? <Failure error={remove.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" color="red" loading={remove.isPending}>
              Turn off
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
