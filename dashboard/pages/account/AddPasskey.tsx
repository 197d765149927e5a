import { Stack, Text, TextInput } from '@mantine/core';
import { startRegistration } from '@simplewebauthn/browser';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { accountApi } from '../../api/account.ts';
import { ApiError } from '../../api/api-error.ts';
import { useWithProof } from '../../auth/proof.tsx';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { useRefreshPasskeys } from './use-refresh-passkeys.ts';

export function AddPasskey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const refreshPasskeys = useRefreshPasskeys();
  const withProof = useWithProof();
  const add = useMutation({
    mutationFn: async () => {
      const optionsJSON = await withProof(accountApi.passkeyOptions);
      const response = await startRegistration({ optionsJSON });
      return await withProof(() => accountApi.addPasskey(name.trim(), response));
    },
    onSuccess: async () => {
      await refreshPasskeys();
      notifySuccess('Passkey added.');
      onClose();
    },
  });
  return (
    <Dialog title="Add passkey" locked={add.isPending} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        <Stack>
          <TextInput
            label="Name"
            description="The device or security key"
            placeholder="My laptop"
            maxLength={64}
            autoFocus
            data-autofocus
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          {add.error && !(add.error instanceof ApiError) ? (
            <Text size="sm" c="red" role="alert">
              The browser did not create a passkey. You cancelled the request, or this device already has one.
            </Text>
          ) : null}
          <FormActions
            action="Add"
            disabled={name.trim() === ''}
            pending={add.isPending}
            error={add.error instanceof ApiError ? add.error : undefined}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
