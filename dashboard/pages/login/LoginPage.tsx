import { Anchor, Button, Divider, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { people } from '../../api/people.ts';
import { hasCode } from '../../api/problem.ts';
import { useFilters } from '../../shared/filters.ts';
import { Icon } from '../../shared/Icon.tsx';
import { signWithPasskey } from '../../shared/passkeys.ts';
import { CodeField } from './CodeField.tsx';
import { needsCode, typedCode } from './codes.ts';
import { useEntered } from './entered.ts';
import { FrontFrame } from './FrontFrame.tsx';
import { LoginProblem } from './LoginProblem.tsx';

/** Email and password, then the second factor where there is one; or a passkey instead of all of it. */
export function LoginPage() {
  const { filters } = useFilters();
  const entered = useEntered();
  const onSuccess = (session: Awaited<ReturnType<typeof people.logIn>>) => entered(session, filters.next);
  const form = useForm({ initialValues: { email: '', password: '', code: '' } });
  const logIn = useMutation({
    mutationFn: ({ email, password, code }: typeof form.values) =>
      people.logIn({
        email: email.trim(),
        password,
        ...typedCode(code),
      }),
    onSuccess,
  });
  const passkey = useMutation({ mutationFn: () => signWithPasskey(people.passkeyLogIn), onSuccess });
  const problem = logIn.error ?? passkey.error;

  return (
    <FrontFrame title="Log in" lead="Keys, webhooks and deliveries of your Organization">
      <form
        onSubmit={form.onSubmit((values) => {
          passkey.reset();
          logIn.mutate(values);
        })}
      >
        <Stack gap="md">
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
          {problem && !hasCode(problem, 'totp_required') ? <LoginProblem error={problem} /> : null}
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
            Forgot the password?
          </Anchor>
        </Stack>
      </form>
    </FrontFrame>
  );
}
