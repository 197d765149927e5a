import { Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { accountApi } from '../../api/account.ts';
import type { Passkey } from '../../api/types.ts';
import { useWithProof } from '../../auth/proof.tsx';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { useRefreshPasskeys } from './use-refresh-passkeys.ts';

export function RemovePasskey({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const refreshPasskeys = useRefreshPasskeys();
  const withProof = useWithProof();
  const remove = useMutation({
    mutationFn: () => withProof(() => accountApi.removePasskey(passkey.guid)),
    onSuccess: async () => {
      await refreshPasskeys();
      notifySuccess(`${passkey.name} was removed.`);
      onClose();
    },
  });
  return (
    <Dialog title={`Remove passkey ${passkey.name}`} locked={remove.isPending} onClose={onClose}>
      <Stack>
        <Text size="sm">You can no longer log in with this passkey. Delete it on your device as well.</Text>
        <FormActions
          danger
          action="Remove"
          onAction={remove.mutate}
          pending={remove.isPending}
          error={remove.error}
          onCancel={onClose}
        />
      </Stack>
    </Dialog>
  );
}
