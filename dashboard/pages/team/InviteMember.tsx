import { Button, Stack, Text, TextInput } from '@mantine/core';
import { isEmail, useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { InvitedMember, Member, Role } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { OneTimeSecret } from '../../shared/secrets/OneTimeSecret.tsx';
import { RoleSelect } from './RoleSelect.tsx';

/** `again` is invited once more: the new link replaces the previous one. */
export function InviteMember({ again, onClose }: { again?: Member; onClose: () => void }) {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const form = useForm({
    initialValues: { email: again?.email ?? '', role: again?.role ?? ('viewer' as Role) },
    validate: { email: isEmail('Enter an email address') },
  });
  const invite = useMutation({
    mutationFn: (input: { email: string; role: Role }) => api.post<InvitedMember>('/members', input),
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: [api.key, '/members'] }),
  });
  const invited = invite.data;
  return (
    <Dialog
      title={invited ? `Invitation for ${invited.email}` : again ? 'Send invitation again' : 'Invite member'}
      locked={invite.isPending || invited?.invitation_link !== undefined}
      onClose={onClose}
    >
      {invited ? (
        <Invited member={invited} onClose={onClose} />
      ) : (
        <form onSubmit={form.onSubmit(({ email, role }) => invite.mutate({ email: email.trim(), role }))}>
          <Stack>
            {again ? <Text size="sm">The link of the previous invitation stops working.</Text> : null}
            <TextInput
              label="Email"
              type="email"
              required
              readOnly={again !== undefined}
              data-autofocus={again === undefined || undefined}
              {...form.getInputProps('email')}
            />
            <RoleSelect value={form.values.role} onChange={(role) => form.setFieldValue('role', role)} />
            <FormActions
              action={again ? 'Send again' : 'Invite'}
              pending={invite.isPending}
              error={invite.error}
              onCancel={onClose}
            />
          </Stack>
        </form>
      )}
    </Dialog>
  );
}

/** The response contains the link only if the service cannot send email. */
function Invited({ member, onClose }: { member: InvitedMember; onClose: () => void }) {
  if (member.invitation_link)
    return (
      <OneTimeSecret
        warning="Send this link to the new member. Anyone with the link can set the password. It works once and expires in 7 days."
        values={[{ name: 'invitation_link', value: member.invitation_link }]}
        filename="portico-invitation.json"
        onStored={onClose}
      />
    );
  return (
    <Stack>
      <Text size="sm">
        We sent an email with a link to set a password. The link works once and expires in 7 days.
      </Text>
      <Button onClick={onClose}>Done</Button>
    </Stack>
  );
}
