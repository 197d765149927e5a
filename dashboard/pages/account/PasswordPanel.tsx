import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { people } from '../../api/people.ts';
import { Failure } from '../../shared/Failure.tsx';
import { NewPasswordFields } from '../../shared/NewPasswordFields.tsx';
import { tell } from '../../shared/notify.ts';
import { Panel } from '../../shared/Panel.tsx';
import { newPasswordRules } from '../../shared/passwords.ts';
import { useWithProof } from '../../shell/proof.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';
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
      withProof(() => people.changePassword({ current_password: current, new_password: password })),
    onSuccess: async () => {
      form.reset();
      await queries.invalidateQueries({ queryKey: ACCOUNT_SESSIONS_KEY });
      tell('The password is changed, and every other session ended.');
    },
  });
  return (
    <Panel title="Password" hint="Changing it logs you out everywhere else">
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
          {change.error ? <Failure error={change.error} /> : null}
          <Group justify="flex-end">
            <Button type="submit" variant="default" loading={change.isPending}>
              Change the password
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}
