import { PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { accountApi } from '../../api/account.ts';
import { useWithProof } from '../../auth/proof.tsx';
import { SESSION_KEY } from '../../session/session.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';

export function RemoveTotp({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [password, setPassword] = useState('');
  const withProof = useWithProof();
  const remove = useMutation({
    mutationFn: () => withProof(() => accountApi.removeTotp(password)),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: SESSION_KEY });
      onClose();
    },
  });
  return (
    <Dialog title="Turn off the authenticator app" held={remove.isPending} onClose={onClose}>
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
