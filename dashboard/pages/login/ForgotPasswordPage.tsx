import { Anchor, Button, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { accountApi } from '../../api/account.ts';
import { LoginError } from '../../auth/LoginError.tsx';
import { LoginLayout } from './LoginLayout.tsx';
import { LINK_TITLES, ResetLinkSent } from './ResetLinkSent.tsx';

export function ForgotPasswordPage() {
  const form = useForm({ initialValues: { email: '' } });
  const request = useMutation({
    mutationFn: (email: string) => accountApi.requestPasswordReset(email.trim()),
  });
  const back = (
    <Anchor component={Link} to="/login" size="sm" ta="center">
      Back to login
    </Anchor>
  );
  if (request.isSuccess)
    return (
      <LoginLayout title={LINK_TITLES[request.data.link_by]}>
        <Stack gap="md">
          <ResetLinkSent email={form.values.email} reset={request.data} />
          {back}
        </Stack>
      </LoginLayout>
    );
  return (
    <LoginLayout title="Reset your password" subtitle="Request a link to set a new password">
      <form onSubmit={form.onSubmit(({ email }) => request.mutate(email))}>
        <Stack gap="md">
          <TextInput
            label="Email"
            type="email"
            autoComplete="username"
            required
            withAsterisk={false}
            autoFocus
            {...form.getInputProps('email')}
          />
          {request.error ? <LoginError error={request.error} /> : null}
          <Button type="submit" loading={request.isPending} fullWidth>
            Request link
          </Button>
          {back}
        </Stack>
      </form>
    </LoginLayout>
  );
}
