import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { startRegistration } from '@simplewebauthn/browser';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { people } from '../../api/people.ts';
import { Problem } from '../../api/problem.ts';
import { Failure } from '../../shared/Failure.tsx';
import { tell } from '../../shared/notify.ts';
import { usePasskeysChanged } from './passkeys.ts';
import { useProof } from './use-proof.tsx';

export function AddPasskey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const changed = usePasskeysChanged();
  const { withProof, question } = useProof();
  const add = useMutation({
    mutationFn: async () => {
      const optionsJSON = await withProof(people.passkeyOptions);
      return await people.addPasskey(name.trim(), await startRegistration({ optionsJSON }));
    },
    onSuccess: async () => {
      await changed();
      tell('The passkey works from now on.');
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={question?.title ?? 'Add a passkey'} centered>
      {question?.form ?? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            add.mutate();
          }}
        >
          <Stack>
            <TextInput
              label="Name"
              description="By which you know the device or key again"
              placeholder="My laptop"
              maxLength={64}
              autoFocus
              data-autofocus
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            {add.error instanceof Problem ? <Failure error={add.error} /> : null}
            {add.error && !(add.error instanceof Problem) ? (
              <Text size="sm" c="red" role="alert">
                The browser did not make one. It may have been cancelled, or this device has one already.
              </Text>
            ) : null}
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" disabled={name.trim() === ''} loading={add.isPending}>
                Add
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
