import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { people } from '../../api/people.ts';
import { hasCode } from '../../api/problem.ts';
import type { Link } from '../../api/types.ts';
import { passwordProblem } from '../../shared/passwords.ts';
import { CodeField } from './CodeField.tsx';
import { useEntered } from './entered.ts';
import { FrontFrame } from './FrontFrame.tsx';
import { LoginProblem } from './LoginProblem.tsx';

export function SetPasswordForm({ token, link }: { token: string; link: Link }) {
  const entered = useEntered();
  const invited = link.purpose === 'invitation';
  const form = useForm({
    initialValues: { name: '', password: '', again: '', code: '' },
    validate: {
      password: (value) => passwordProblem(value, link.email),
      again: (value, { password }) => (value === password ? null : 'The two are not the same'),
    },
  });
  const setPassword = useMutation({
    mutationFn: ({ name, password, code }: typeof form.values) =>
      people.setPassword({
        token,
        password,
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        ...(code === '' ? {} : { totp_code: code.replaceAll(' ', '') }),
      }),
    onSuccess: (session) => entered(session),
  });
  const needsCode = hasCode(setPassword.error, 'totp_required', 'totp_invalid') || form.values.code !== '';
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
          <PasswordInput
            label="Password"
            description="At least 12 characters; a few unrelated words are good"
            autoComplete="new-password"
            required
            withAsterisk={false}
            {...form.getInputProps('password')}
          />
          <PasswordInput
            label="Password again"
            autoComplete="new-password"
            required
            withAsterisk={false}
            {...form.getInputProps('again')}
          />
          {needsCode ? <CodeField {...form.getInputProps('code')} /> : null}
          {setPassword.error && !hasCode(setPassword.error, 'totp_required') ? (
            <LoginProblem error={setPassword.error} />
          ) : null}
          <Button type="submit" loading={setPassword.isPending} fullWidth>
            {invited ? 'Set the password and join' : 'Set the password'}
          </Button>
        </Stack>
      </form>
    </FrontFrame>
  );
}
