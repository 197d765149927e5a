import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Dialog } from '../../shared/Dialog.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { KeyForm } from './KeyForm.tsx';
import { KeySecret } from './KeySecret.tsx';
import { type KeyKind, listKeyOf, readScopesOf, useKeyCalls } from './kinds.ts';

export function GenerateKey({ kind, onClose }: { kind: KeyKind; onClose: () => void }) {
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const calls = useKeyCalls(kind);
  const create = useMutation({
    mutationFn: calls.create,
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: listKeyOf(workspace, calls) }),
  });
  const created = create.data;
  const title =
    kind === 'bank' ? `Generate a key of ${workspace.bank?.name}` : 'Generate an organization key';
  return (
    <Dialog
      wide
      title={created ? 'Your new key pair' : title}
      held={create.isPending || created !== undefined}
      onClose={onClose}
    >
      {created ? (
        <KeySecret created={created} onStored={onClose} />
      ) : (
        <KeyForm
          kind={kind}
          isNew
          initial={{ name: '', scopes: readScopesOf(kind), ip_allowlist: [] }}
          action="Generate"
          pending={create.isPending}
          error={create.error}
          onSubmit={create.mutate}
          onCancel={onClose}
        />
      )}
    </Dialog>
  );
}
