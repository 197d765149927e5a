import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Dialog } from '../../shared/Dialog.tsx';
import { tell } from '../../shared/notify.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { KeyForm } from './KeyForm.tsx';
import { type KeyDialogProps, type KeyInput, listKeyOf, useKeyCalls } from './kinds.ts';

export function EditKey({ kind, application, onClose }: KeyDialogProps) {
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const calls = useKeyCalls(kind);
  const update = useMutation({
    mutationFn: (input: KeyInput) => calls.update(application.client_id, input),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: listKeyOf(workspace, calls) });
      tell('Saved. Tokens that are already out keep what they were issued with.');
      onClose();
    },
  });
  const { name, scopes, ip_allowlist } = application;
  return (
    <Dialog wide title="Edit key pair" held={update.isPending} onClose={onClose}>
      <KeyForm
        kind={kind}
        initial={{ name, scopes, ip_allowlist }}
        action="Save"
        pending={update.isPending}
        error={update.error}
        onSubmit={update.mutate}
        onCancel={onClose}
      />
    </Dialog>
  );
}
