import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useWorkspace } from '../../session/workspace.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { KeyForm } from './KeyForm.tsx';
import { type KeyDialogProps, type KeyInput, listKeyOf, useKeyApi } from './use-key-api.ts';

export function EditKey({ kind, application, onClose }: KeyDialogProps) {
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const keyApi = useKeyApi(kind);
  const update = useMutation({
    mutationFn: (input: KeyInput) => keyApi.update(application.client_id, input),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: listKeyOf(workspace, keyApi) });
      notifySuccess('Key pair saved. Existing tokens keep their scopes and allowlist until they expire.');
      onClose();
    },
  });
  const { name, scopes, ip_allowlist } = application;
  const isUnchanged = (input: KeyInput) =>
    JSON.stringify([input.name, input.scopes?.toSorted(), input.ip_allowlist]) ===
    JSON.stringify([name, scopes.toSorted(), ip_allowlist]);
  return (
    <Dialog wide title="Edit key pair" locked={update.isPending} onClose={onClose}>
      <KeyForm
        kind={kind}
        initial={{ name, scopes, ip_allowlist }}
        action="Save"
        pending={update.isPending}
        error={update.error}
        onSubmit={(input) => (isUnchanged(input) ? onClose() : update.mutate(input))}
        onCancel={onClose}
      />
    </Dialog>
  );
}
