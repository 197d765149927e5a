import { Anchor, Button, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { people } from '../../api/people.ts';
import { FrontFrame } from './FrontFrame.tsx';
import { LINK_TITLES, LinkOnItsWay } from './LinkOnItsWay.tsx';
import { LoginProblem } from './LoginProblem.tsx';

export function ForgotPasswordPage() {
  const form = useForm({ initialValues: { email: '' } });
  const request = useMutation({ mutationFn: (email: string) => people.requestPasswordReset(email.trim()) });
  const back = (
    <Anchor component={Link} to="/login" size="sm" ta="center">
      Back to the login
    </Anchor>
  );
  if (request.isSuccess)
    return (
      <FrontFrame title={LINK_TITLES[request.data.link_by]}>
        <Stack gap="md">
          <LinkOnItsWay email={form.values.email} reset={request.data} />
          {back}
        </Stack>
      </FrontFrame>
    );
  return (
    <FrontFrame title="Reset the password" lead="With a link that is good once">
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
          {request.error ? <LoginProblem error={request.error} /> : null}
          <Button type="submit" loading={request.isPending} fullWidth>
            Ask for the link
          </Button>
          {back}
        </Stack>
      </form>
    </FrontFrame>
  );
}
