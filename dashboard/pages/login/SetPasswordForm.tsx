import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { accountApi } from '../../api/account.ts';
import { hasCode } from '../../api/api-error.ts';
import type { Link } from '../../api/types.ts';
import { CodeField } from '../../auth/CodeField.tsx';
import { LoginError } from '../../auth/LoginError.tsx';
import { NewPasswordFields } from '../../auth/NewPasswordFields.tsx';
import { newPasswordRules } from '../../auth/password-rules.ts';
import { needsCode, typedCode } from '../../auth/totp-code.ts';
import { LoginLayout } from './LoginLayout.tsx';
import { useCompleteLogin } from './use-complete-login.ts';

export function SetPasswordForm({
  token,
  link,
  onHasAccount,
}: {
  token: string;
  link: Link;
  onHasAccount: () => void;
}) {
  const completeLogin = useCompleteLogin();
  const invited = link.purpose === 'invitation';
  const form = useForm({
    initialValues: { name: '', password: '', again: '', code: '' },
    validate: newPasswordRules(link.email),
  });
  const setPassword = useMutation({
    mutationFn: ({ name, password, code }: typeof form.values) =>
      accountApi.setPassword({
        token,
        password,
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        ...typedCode(code),
      }),
    onSuccess: (session) => completeLogin(session),
    onError: (error) => {
      if (hasCode(error, 'account_exists')) onHasAccount();
    },
  });
  return (
    <LoginLayout
      title={invited ? `Join ${link.organization_name ?? 'your team'}` : 'Set a new password'}
      subtitle={invited ? `You were invited as ${link.email}` : `For ${link.email}`}
    >
      <form onSubmit={form.onSubmit((values) => setPassword.mutate(values))}>
        <Stack gap="md">
          <input type="hidden" autoComplete="username" value={link.email} readOnly />
          {invited ? (
            <TextInput
              label="Your name"
              description="Shown to your team"
              autoComplete="name"
              maxLength={128}
              autoFocus
              {...form.getInputProps('name')}
            />
          ) : null}
          <NewPasswordFields form={form} label="Password" />
          {invited ? null : (
            <Text size="sm" c="dimmed">
              This ends all other sessions and removes your passkeys. You can add them again later.
            </Text>
          )}
          {needsCode(setPassword.error, form.values.code) ? (
            <CodeField {...form.getInputProps('code')} />
          ) : null}
          {setPassword.error && !hasCode(setPassword.error, 'totp_required') ? (
            <LoginError error={setPassword.error} />
          ) : null}
          <Button type="submit" loading={setPassword.isPending} fullWidth>
            {invited ? 'Set password and join' : 'Set password'}
          </Button>
          {invited ? (
            <Anchor component="button" type="button" size="sm" ta="center" onClick={onHasAccount}>
              Already have an account? Log in
            </Anchor>
          ) : null}
        </Stack>
      </form>
    </LoginLayout>
  );
}
