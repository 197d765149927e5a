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
  const changed = useRefreshPasskeys();
  const withProof = useWithProof();
  const remove = useMutation({
    mutationFn: () => withProof(() => accountApi.removePasskey(passkey.guid)),
    onSuccess: async () => {
      await changed();
      notifySuccess(`${passkey.name} is removed.`);
      onClose();
    },
  });
  return (
    <Dialog title={`Remove ${passkey.name}`} held={remove.isPending} onClose={onClose}>
      <Stack>
        <Text size="sm">
          You can no longer log in with it. The device keeps its half until you delete it there.
        </Text>
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
