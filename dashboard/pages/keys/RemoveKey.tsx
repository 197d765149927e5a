import { useQueryClient } from '@tanstack/react-query';
import { ConfirmTyped } from '../../shared/ConfirmTyped.tsx';
import { tell } from '../../shared/notify.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { type KeyDialogProps, listKeyOf, useKeyCalls } from './kinds.ts';

export function RemoveKey({ kind, application, onClose }: KeyDialogProps) {
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const calls = useKeyCalls(kind);
  return (
    <ConfirmTyped
      title="Remove this key pair"
      word={application.name}
      action="Remove the key"
      onClose={onClose}
      onConfirm={async () => {
        await calls.remove(application.client_id);
        await queries.invalidateQueries({ queryKey: listKeyOf(workspace, calls) });
        tell(`${application.name} is removed, and its tokens are dead.`);
      }}
    >
      Every token of this key stops working at once, customer tokens included. This cannot be undone. If it is
      still in use, rotate it instead.
    </ConfirmTyped>
  );
}
