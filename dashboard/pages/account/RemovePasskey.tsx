import { Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { people } from '../../api/people.ts';
import type { Passkey } from '../../api/types.ts';
import { Dialog } from '../../shared/Dialog.tsx';
import { FormEnd } from '../../shared/FormEnd.tsx';
import { tell } from '../../shared/notify.ts';
import { useWithProof } from '../../shell/proof.tsx';
import { usePasskeysChanged } from './passkeys.ts';

export function RemovePasskey({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const changed = usePasskeysChanged();
  const withProof = useWithProof();
  const remove = useMutation({
    mutationFn: () => withProof(() => people.removePasskey(passkey.guid)),
    onSuccess: async () => {
      await changed();
      tell(`${passkey.name} is removed.`);
      onClose();
    },
  });
  return (
    <Dialog title={`Remove ${passkey.name}`} held={remove.isPending} onClose={onClose}>
      <Stack>
        <Text size="sm">
          You can no longer log in with it. The device keeps its half until you delete it there.
        </Text>
        <FormEnd
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
