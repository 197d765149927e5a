import { Alert, Anchor, Button, Divider, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { accountApi } from '../api/account.ts';
import { hasCode } from '../api/api-error.ts';
import type { Session } from '../api/types.ts';
import { Icon } from '../shared/text/Icon.tsx';
import { CodeField } from './CodeField.tsx';
import { LoginError } from './LoginError.tsx';
import { signWithPasskey } from './sign-with-passkey.ts';
import { needsCode, typedCode } from './totp-code.ts';

/** `hasEnded`: the previous session of this tab has ended, other than by logging out. */
export function LoginForm({
  email = '',
  hasEnded,
  onSuccess,
}: {
  email?: string;
  hasEnded: boolean;
  onSuccess: (session: Session) => void;
}) {
  const form = useForm({ initialValues: { email, password: '', code: '' } });
  const logIn = useMutation({
    mutationFn: (values: typeof form.values) =>
      accountApi.logIn({
        email: values.email.trim(),
        password: values.password,
        ...typedCode(values.code),
      }),
    onSuccess,
  });
  const passkey = useMutation({ mutationFn: () => signWithPasskey(accountApi.passkeyLogIn), onSuccess });
  const error = logIn.error ?? passkey.error;
  const focus = { autoFocus: true, 'data-autofocus': true };

  return (
    <form
      onSubmit={form.onSubmit((values) => {
        passkey.reset();
        logIn.mutate(values);
      })}
    >
      <Stack gap="md">
        {hasEnded ? (
          <Alert color="blue" variant="light" role="status">
            Your session has ended. Log in again.
          </Alert>
        ) : null}
        <TextInput
          label="Email"
          type="email"
          autoComplete="username webauthn"
          required
          withAsterisk={false}
          {...(email === '' ? focus : {})}
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          {...(email === '' ? {} : focus)}
          {...form.getInputProps('password')}
        />
        {needsCode(logIn.error, form.values.code) ? <CodeField {...form.getInputProps('code')} /> : null}
        {error && !hasCode(error, 'totp_required') ? <LoginError error={error} /> : null}
        <Button type="submit" loading={logIn.isPending} fullWidth>
          Log in
        </Button>
        <Divider label="or" />
        <Button
          variant="default"
          fullWidth
          leftSection={<Icon name="passkey" />}
          loading={passkey.isPending}
          onClick={() => {
            logIn.reset();
            passkey.mutate();
          }}
        >
          Use a passkey
        </Button>
        <Anchor component={Link} to="/forgot-password" size="sm" ta="center">
          Forgot your password?
        </Anchor>
      </Stack>
    </form>
  );
}
