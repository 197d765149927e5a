import { Anchor, Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { accountApi } from '../../api/account.ts';
import { hasCode } from '../../api/api-error.ts';
import type { Link } from '../../api/types.ts';
import { CodeField } from '../../auth/CodeField.tsx';
import { needsCode, typedCode } from '../../auth/totp-code.ts';
import { useServices } from '../../session/services.ts';
import { replaceSession, useSession } from '../../session/session.ts';
import { LoginError } from './LoginError.tsx';
import { LoginLayout } from './LoginLayout.tsx';
import { useCompleteLogin } from './use-complete-login.ts';

/** Who has an account already joins with it: by logging in, or at once when that is who is logged in. */
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
        // Whoever was here before is not any more, also when the invitation is then refused.
        replaceSession(services, session);
      }
      return await accountApi.acceptInvitation(token);
    },
    onSuccess: (joined) => completeLogin(joined),
  });
  return (
    <LoginLayout
      title={`Join ${link.organization_name ?? 'the team'}`}
      lead={`You were invited as ${link.email}`}
    >
      <form onSubmit={form.onSubmit((values) => accept.mutate(values))}>
        <Stack gap="md">
          <Text size="sm">
            {isLoggedIn
              ? 'You are logged in with this address.'
              : 'Log in with your account for this address to join.'}
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
              New here? Set a password
            </Anchor>
          )}
        </Stack>
      </form>
    </LoginLayout>
  );
}
