import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Subscription } from '../../api/types.ts';
import { Failure } from '../../shared/Failure.tsx';
import { useSubscriptionCalls } from './calls.ts';

export function RenameSubscription({
  subscription,
  onClose,
}: {
  subscription: Subscription;
  onClose: () => void;
}) {
  const [name, setName] = useState(subscription.name);
  const { rename, listKey } = useSubscriptionCalls();
  const queries = useQueryClient();
  const renaming = useMutation({
    mutationFn: () => rename(subscription.guid, name.trim()),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: listKey });
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title="Rename the subscription" centered>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          renaming.mutate();
        }}
      >
        <Stack>
          <TextInput
            label="Name"
            value={name}
            maxLength={128}
            data-autofocus
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {renaming.error ? <Failure error={renaming.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={name.trim() === ''} loading={renaming.isPending}>
              Rename
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
