import { useMutation } from '@tanstack/react-query';
import { useWorkspace } from '../../session/workspace.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { KeyForm } from './KeyForm.tsx';
import { KeySecret } from './KeySecret.tsx';
import { type KeyKind, readScopesOf } from './scopes/read-scopes.ts';
import { useKeyApi } from './use-key-api.ts';

export function GenerateKey({ kind, onClose }: { kind: KeyKind; onClose: () => void }) {
  const { bank } = useWorkspace();
  const keyApi = useKeyApi(kind);
  const create = useMutation({ mutationFn: keyApi.create, gcTime: 0 });
  const created = create.data;
  const title = kind === 'bank' ? `Generate bank key for ${bank?.name}` : 'Generate organization key';
  return (
    <Dialog
      wide
      title={created ? 'Your new key pair' : title}
      locked={create.isPending || created !== undefined}
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
