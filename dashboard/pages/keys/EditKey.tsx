import { useMutation } from '@tanstack/react-query';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { changedFields } from '../../shared/forms/changed-fields.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { KeyForm } from './KeyForm.tsx';
import { type KeyDialogProps, type KeyInput, useKeyApi } from './use-key-api.ts';

export function EditKey({ kind, application, onClose }: KeyDialogProps) {
  const keyApi = useKeyApi(kind);
  const update = useMutation({
    mutationFn: (changes: Partial<KeyInput>) => keyApi.update(application.client_id, changes),
    onSuccess: () => {
      notifySuccess('Key pair saved. Existing tokens keep their scopes and allowlist until they expire.');
      onClose();
    },
  });
  const { name, scopes, ip_allowlist } = application;
  const initial = { name, scopes, ip_allowlist };
  const save = (input: KeyInput) => {
    const changes = changedFields<KeyInput>(initial, input);
    if (Object.keys(changes).length === 0) onClose();
    else update.mutate(changes);
  };
  return (
    <Dialog wide title="Edit key pair" locked={update.isPending} onClose={onClose}>
      <KeyForm
        kind={kind}
        initial={initial}
        action="Save"
        pending={update.isPending}
        error={update.error}
        onSubmit={save}
        onCancel={onClose}
      />
    </Dialog>
  );
}
