import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { people } from '../../api/people.ts';
import { FrontFrame } from './FrontFrame.tsx';
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
      <FrontFrame title={request.data.by_mail ? 'Look into your mail' : 'The operator is told'}>
        <Stack gap="md">
          <Text size="sm" ta="center">
            If there is an account for <strong>{form.values.email}</strong>,{' '}
            {request.data.by_mail ? (
              'a link to set a new password is on its way. It works once, for 24 hours.'
            ) : (
              <>
                whoever runs this service is told that you ask. It sends no mail, so they hand you the link
                themselves. You can reach them at{' '}
                <Anchor href={`mailto:${request.data.support_email}`}>{request.data.support_email}</Anchor>.
              </>
            )}
          </Text>
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
