import { useQueryClient } from '@tanstack/react-query';
import { useWorkspace } from '../../session/workspace.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { ConfirmByName } from '../../shared/forms/ConfirmByName.tsx';
import { type KeyDialogProps, listKeyOf, useKeyApi } from './use-key-api.ts';

export function RemoveKey({ kind, application, onClose }: KeyDialogProps) {
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const calls = useKeyApi(kind);
  return (
    <ConfirmByName
      title="Remove this key pair"
      word={application.name}
      action="Remove the key"
      onClose={onClose}
      onConfirm={async () => {
        await calls.remove(application.client_id);
        await queries.invalidateQueries({ queryKey: listKeyOf(workspace, calls) });
        notifySuccess(`${application.name} is removed, and its tokens are dead.`);
      }}
    >
      Every token of this key stops working at once, customer tokens included. This cannot be undone. If it is
      still in use, rotate it instead.
    </ConfirmByName>
  );
}
