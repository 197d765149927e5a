import { Anchor, Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { accountApi } from '../../api/account.ts';
import { hasCode } from '../../api/api-error.ts';
import type { Link } from '../../api/types.ts';
import { CodeField } from '../../auth/CodeField.tsx';
import { LoginError } from '../../auth/LoginError.tsx';
import { needsCode, typedCode } from '../../auth/totp-code.ts';
import { useServices } from '../../session/services.ts';
import { replaceSession, useSession } from '../../session/session.ts';
import { LoginLayout } from './LoginLayout.tsx';
import { useCompleteLogin } from './use-complete-login.ts';

/** For invited users who already have an account. */
export function AcceptInvitation({ token, link, onBack }: { token: string; link: Link; onBack: () => void }) {
  const completeLogin = useCompleteLogin();
  const services = useServices();
  const { data: session } = useSession();
  const isLoggedIn = session?.member.email.toLowerCase() === link.email.toLowerCase();
  const form = useForm({ initialValues: { password: '', code: '' } });
  const accept = useMutation({
    mutationFn: async ({ password, code }: typeof form.values) => {
      if (!isLoggedIn) {
        const session = await accountApi.logIn({ email: link.email, password, ...typedCode(code) });
        // The login succeeded, even if the invitation is rejected next.
        replaceSession(services, session);
      }
      return await accountApi.acceptInvitation(token);
    },
    onSuccess: (joined) => completeLogin(joined),
  });
  return (
    <LoginLayout
      title={`Join ${link.organization_name ?? 'your team'}`}
      subtitle={`You were invited as ${link.email}`}
    >
      <form onSubmit={form.onSubmit((values) => accept.mutate(values))}>
        <Stack gap="md">
          <Text size="sm">
            {isLoggedIn
              ? 'You are logged in with this email address.'
              : 'This email address already has an account. Log in to join.'}
          </Text>
          {isLoggedIn ? null : (
            <>
              <input type="hidden" autoComplete="username" value={link.email} readOnly />
              <PasswordInput
                label="Password"
                autoComplete="current-password"
                required
                withAsterisk={false}
                autoFocus
                {...form.getInputProps('password')}
              />
            </>
          )}
          {needsCode(accept.error, form.values.code) ? <CodeField {...form.getInputProps('code')} /> : null}
          {accept.error && !hasCode(accept.error, 'totp_required') ? (
            <LoginError error={accept.error} />
          ) : null}
          <Button type="submit" loading={accept.isPending} fullWidth>
            {isLoggedIn ? 'Join' : 'Log in and join'}
          </Button>
          {isLoggedIn ? null : (
            <Anchor component="button" type="button" size="sm" ta="center" onClick={onBack}>
              No account yet? Set a password
            </Anchor>
          )}
        </Stack>
      </form>
    </LoginLayout>
  );
}
