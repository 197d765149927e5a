import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { people } from '../../api/people.ts';
import type { Passkey } from '../../api/types.ts';
import { Failure } from '../../shared/Failure.tsx';
import { tell } from '../../shared/notify.ts';
import { usePasskeysChanged } from './passkeys.ts';
import { useProof } from './use-proof.tsx';

export function RemovePasskey({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const changed = usePasskeysChanged();
  const { withProof, question } = useProof();
  const remove = useMutation({
    mutationFn: () => withProof(() => people.removePasskey(passkey.guid)),
    onSuccess: async () => {
      await changed();
      tell(`${passkey.name} is removed.`);
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={question?.title ?? `Remove ${passkey.name}`} centered>
      {question?.form ?? (
        <Stack>
          <Text size="sm">
            You can no longer log in with it. The device keeps its half until you delete it there.
          </Text>
          {remove.error ? <Failure error={remove.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button color="red" data-autofocus loading={remove.isPending} onClick={() => remove.mutate()}>
              Remove
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
