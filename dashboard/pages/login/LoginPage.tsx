import { Alert, Anchor, Button, Divider, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { accountApi } from '../../api/account.ts';
import { hasCode } from '../../api/api-error.ts';
import { CodeField } from '../../auth/CodeField.tsx';
import { signWithPasskey } from '../../auth/sign-with-passkey.ts';
import { needsCode, typedCode } from '../../auth/totp-code.ts';
import { useHasSessionEnded } from '../../session/session.ts';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { Icon } from '../../shared/text/Icon.tsx';
import { LoginError } from './LoginError.tsx';
import { LoginLayout } from './LoginLayout.tsx';
import { useCompleteLogin } from './use-complete-login.ts';

export function LoginPage() {
  const { filters } = useFilters();
  const hasSessionEnded = useHasSessionEnded();
  const completeLogin = useCompleteLogin();
  const onSuccess = (session: Awaited<ReturnType<typeof accountApi.logIn>>) =>
    completeLogin(session, filters.next);
  const form = useForm({ initialValues: { email: '', password: '', code: '' } });
  const logIn = useMutation({
    mutationFn: ({ email, password, code }: typeof form.values) =>
      accountApi.logIn({
        email: email.trim(),
        password,
        ...typedCode(code),
      }),
    onSuccess,
  });
  const passkey = useMutation({ mutationFn: () => signWithPasskey(accountApi.passkeyLogIn), onSuccess });
  const error = logIn.error ?? passkey.error;

  return (
    <LoginLayout title="Log in" subtitle="Manage API keys, webhooks and deliveries">
      <form
        onSubmit={form.onSubmit((values) => {
          passkey.reset();
          logIn.mutate(values);
        })}
      >
        <Stack gap="md">
          {hasSessionEnded ? (
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
            autoFocus
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            withAsterisk={false}
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
    </LoginLayout>
  );
}
