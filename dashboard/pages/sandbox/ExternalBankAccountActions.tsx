import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SandboxObject } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyFailure, notifySuccess } from '../../shared/feedback/notify.ts';
import { RowMenu } from '../../shared/table/RowMenu.tsx';

const PATH = '/external_bank_accounts';
const REFRESHABLE = ['completed', 'failed', 'expired'];
const DELETED = ['deleting', 'deleted'];

export function ExternalBankAccountActions({ guid, name, state = '' }: SandboxObject) {
  const { api, can } = useWorkspace();
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: (action: 'refresh' | 'delete') =>
      action === 'delete'
        ? api.remove(`${PATH}/${guid}`)
        : api.patch(`${PATH}/${guid}`, { state: 'refresh' }),
    onSuccess: async (_, action) => {
      await queries.invalidateQueries({ queryKey: [api.key, PATH] });
      notifySuccess(action === 'delete' ? 'Deletion started.' : 'Refresh started.');
    },
    onError: (error, action) => notifyFailure(`Could not ${action} the account`)(error),
  });
  const canRefresh = can('external_bank_accounts:write') && REFRESHABLE.includes(state);
  const canDelete = can('external_bank_accounts:execute') && !DELETED.includes(state);
  if (!canRefresh && !canDelete) return null;
  return (
    <RowMenu
      name={String(name)}
      items={canRefresh ? [{ label: 'Refresh', icon: 'refresh', onClick: () => act.mutate('refresh') }] : []}
      danger={canDelete ? { label: 'Delete', icon: 'trash', onClick: () => act.mutate('delete') } : undefined}
    />
  );
}
