import { PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { accountApi } from '../../api/account.ts';
import { useWithProof } from '../../auth/proof.tsx';
import { useRefreshSession } from '../../session/session.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';

export function RemoveTotp({ onClose }: { onClose: () => void }) {
  const refreshSession = useRefreshSession();
  const [password, setPassword] = useState('');
  const withProof = useWithProof();
  const remove = useMutation({
    mutationFn: () => withProof(() => accountApi.removeTotp(password)),
    onSuccess: async () => {
      await refreshSession();
      onClose();
    },
  });
  return (
    <Dialog title="Turn off authenticator app" locked={remove.isPending} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          remove.mutate();
        }}
      >
        <Stack>
          <Text size="sm">You will log in without a code. Your recovery codes stop working.</Text>
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            data-autofocus
            required
            withAsterisk={false}
            value={password}
            onChange={({ currentTarget }) => setPassword(currentTarget.value)}
          />
          <FormActions
            danger
            action="Turn off"
            pending={remove.isPending}
            error={remove.error}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
