import { Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Member } from '../../api/types.ts';
import { useRefreshSession } from '../../session/session.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { RoleSelect } from './RoleSelect.tsx';

export function ChangeRole({ member, onClose }: { member: Member; onClose: () => void }) {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const refreshSession = useRefreshSession();
  const [role, setRole] = useState(member.role);
  const change = useMutation({
    mutationFn: () => api.patch<Member>(`/members/${member.guid}`, { role }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [api.key, '/members'] });
      // Users can change their own role.
      await refreshSession();
      notifySuccess('Role changed.');
      onClose();
    },
  });
  return (
    <Dialog
      title={`Change role of ${member.name ?? member.email}`}
      locked={change.isPending}
      onClose={onClose}
    >
      <Stack>
        <RoleSelect value={role} onChange={setRole} />
        <FormActions
          action="Change role"
          onAction={change.mutate}
          disabled={role === member.role}
          pending={change.isPending}
          error={change.error}
          onCancel={onClose}
        />
      </Stack>
    </Dialog>
  );
}
