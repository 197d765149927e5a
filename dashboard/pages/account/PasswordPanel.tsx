import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { accountApi } from '../../api/account.ts';
import { NewPasswordFields } from '../../auth/NewPasswordFields.tsx';
import { newPasswordRules } from '../../auth/password-rules.ts';
import { useWithProof } from '../../auth/proof.tsx';
import { useWorkspace } from '../../session/workspace.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { useLeaveGuard } from '../../shared/forms/LeaveGuard.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { ACCOUNT_SESSIONS_KEY } from './SessionsPanel.tsx';

export function PasswordPanel() {
  const { session } = useWorkspace();
  const queries = useQueryClient();
  const withProof = useWithProof();
  const form = useForm({
    initialValues: { current: '', password: '', again: '' },
    validate: newPasswordRules(session.member.email),
  });
  const change = useMutation({
    mutationFn: ({ current, password }: typeof form.values) =>
      withProof(() => accountApi.changePassword({ current_password: current, new_password: password })),
    onSuccess: async () => {
      form.reset();
      await queries.invalidateQueries({ queryKey: ACCOUNT_SESSIONS_KEY });
      notifySuccess('Password changed. All other sessions were ended.');
    },
  });
  // Browsers fill in the current password by themselves.
  useLeaveGuard(() => form.isDirty('password'));
  return (
    <Panel title="Password" hint="Changing it ends all your other sessions">
      <form onSubmit={form.onSubmit((values) => change.mutate(values))}>
        <Stack gap="sm">
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            {...form.getInputProps('current')}
          />
          <NewPasswordFields form={form} label="New password" />
          {change.error ? <ErrorAlert error={change.error} /> : null}
          <Group justify="flex-end">
            <Button type="submit" variant="default" loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}
