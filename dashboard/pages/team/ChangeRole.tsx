import { Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Member } from '../../api/types.ts';
import { SESSION_KEY } from '../../session/session.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { RoleSelect } from './RoleSelect.tsx';

export function ChangeRole({ member, onClose }: { member: Member; onClose: () => void }) {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const [role, setRole] = useState(member.role);
  const change = useMutation({
    mutationFn: () => api.patch<Member>(`/members/${member.guid}`, { role }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [api.key, '/members'] });
      // It may have been one's own.
      await queries.invalidateQueries({ queryKey: SESSION_KEY });
      notifySuccess('The role is changed, at once.');
      onClose();
    },
  });
  return (
    <Dialog title={`Role of ${member.name ?? member.email}`} held={change.isPending} onClose={onClose}>
      <Stack>
        <RoleSelect value={role} onChange={setRole} />
        <FormActions
          action="Change"
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
