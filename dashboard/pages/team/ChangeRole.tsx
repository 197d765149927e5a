import { Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Member } from '../../api/types.ts';
import { Dialog } from '../../shared/Dialog.tsx';
import { FormEnd } from '../../shared/FormEnd.tsx';
import { tell } from '../../shared/notify.ts';
import { SESSION_KEY } from '../../shell/session.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';
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
      tell('The role is changed, at once.');
      onClose();
    },
  });
  return (
    <Dialog title={`Role of ${member.name ?? member.email}`} held={change.isPending} onClose={onClose}>
      <Stack>
        <RoleSelect value={role} onChange={setRole} />
        <FormEnd
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
