import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { people } from '../../api/people.ts';
import { hasCode } from '../../api/problem.ts';
import type { Link } from '../../api/types.ts';
import { NewPasswordFields } from '../../shared/NewPasswordFields.tsx';
import { newPasswordRules } from '../../shared/passwords.ts';
import { CodeField } from './CodeField.tsx';
import { needsCode, typedCode } from './codes.ts';
import { useEntered } from './entered.ts';
import { FrontFrame } from './FrontFrame.tsx';
import { LoginProblem } from './LoginProblem.tsx';

export function SetPasswordForm({
  token,
  link,
  onHasAccount,
}: {
  token: string;
  link: Link;
  /** The address of an invitation belongs to an account: by the person's own word, or the service's. */
  onHasAccount: () => void;
}) {
  const entered = useEntered();
  const invited = link.purpose === 'invitation';
  const form = useForm({
    initialValues: { name: '', password: '', again: '', code: '' },
    validate: newPasswordRules(link.email),
  });
  const setPassword = useMutation({
    mutationFn: ({ name, password, code }: typeof form.values) =>
      people.setPassword({
        token,
        password,
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        ...typedCode(code),
      }),
    onSuccess: (session) => entered(session),
    onError: (error) => {
      if (hasCode(error, 'account_exists')) onHasAccount();
    },
  });
  return (
    <FrontFrame
      title={invited ? `Join ${link.organization_name ?? 'your team'}` : 'Set a new password'}
      lead={invited ? `You were invited as ${link.email}` : `For ${link.email}`}
    >
      <form onSubmit={form.onSubmit((values) => setPassword.mutate(values))}>
        <Stack gap="md">
          <input type="hidden" autoComplete="username" value={link.email} readOnly />
          {invited ? (
            <TextInput
              label="Your name"
              description="How your team sees you"
              autoComplete="name"
              maxLength={128}
              autoFocus
              {...form.getInputProps('name')}
            />
          ) : null}
          <NewPasswordFields form={form} label="Password" />
          {invited ? null : (
            <Text size="sm" c="dimmed">
              Every other session ends, and your passkeys are removed: add them again afterwards.
            </Text>
          )}
          {needsCode(setPassword.error, form.values.code) ? (
            <CodeField {...form.getInputProps('code')} />
          ) : null}
          {setPassword.error && !hasCode(setPassword.error, 'totp_required') ? (
            <LoginProblem error={setPassword.error} />
          ) : null}
          <Button type="submit" loading={setPassword.isPending} fullWidth>
            {invited ? 'Set the password and join' : 'Set the password'}
          </Button>
          {invited ? (
            <Anchor component="button" type="button" size="sm" ta="center" onClick={onHasAccount}>
              Already have an account? Log in
            </Anchor>
          ) : null}
        </Stack>
      </form>
    </FrontFrame>
  );
}
