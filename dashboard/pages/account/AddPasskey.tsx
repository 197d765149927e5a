import { Stack, Text, TextInput } from '@mantine/core';
import { startRegistration } from '@simplewebauthn/browser';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { people } from '../../api/people.ts';
import { Problem } from '../../api/problem.ts';
import { Dialog } from '../../shared/Dialog.tsx';
import { FormEnd } from '../../shared/FormEnd.tsx';
import { tell } from '../../shared/notify.ts';
import { useWithProof } from '../../shell/proof.tsx';
import { usePasskeysChanged } from './passkeys.ts';

export function AddPasskey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const changed = usePasskeysChanged();
  const withProof = useWithProof();
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
    <Dialog title="Add a passkey" held={add.isPending} onClose={onClose}>
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
          {add.error && !(add.error instanceof Problem) ? (
            <Text size="sm" c="red" role="alert">
              The browser did not make one. It may have been cancelled, or this device has one already.
            </Text>
          ) : null}
          <FormEnd
            action="Add"
            disabled={name.trim() === ''}
            pending={add.isPending}
            error={add.error instanceof Problem ? add.error : undefined}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
