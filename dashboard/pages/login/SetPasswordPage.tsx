import { Anchor, Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { accountApi } from '../../api/account.ts';
import { ApiError } from '../../api/api-error.ts';
import { useSession } from '../../session/session.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { PageLoading } from '../../shared/feedback/PageLoading.tsx';
import { AcceptInvitation } from './AcceptInvitation.tsx';
import { LoginLayout } from './LoginLayout.tsx';
import { SetPasswordForm } from './SetPasswordForm.tsx';

/** Where the link of an invitation or a reset leads. Its token is behind the #, so no server log ever has it. */
export function SetPasswordPage() {
  // The service does not tell who holds a link whether its address has an account.
  const [hasAccount, setHasAccount] = useState(false);
  const { data: session } = useSession();
  const [token] = useState(() => new URLSearchParams(location.hash.slice(1)).get('token') ?? '');
  // Out of the address as soon as it is read, so that it is neither bookmarked nor in the history.
  useEffect(() => history.replaceState(history.state, '', location.pathname), []);
  const {
    data: link,
    error,
    refetch,
  } = useQuery({
    // The token is no part of the key: keys are shown by tools.
    queryKey: ['link'],
    queryFn: () => accountApi.inspectLink(token),
    enabled: token !== '',
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });

  if (token === '' || (error instanceof ApiError && error.status === 404))
    return (
      <LoginLayout title="This link does not work">
        <Stack gap="md" align="center">
          <Text size="sm" ta="center">
            {token === ''
              ? 'For safety the page forgets it when it is loaded again: open the link once more from where you have it.'
              : 'It was used already, or its time is over. Ask for a new one: a Founder of your Organization can invite you again.'}
          </Text>
          <Button component={Link} to="/forgot-password" variant="light" fullWidth>
            Reset the password
          </Button>
          <Anchor component={Link} to="/login" size="sm">
            To the login
          </Anchor>
        </Stack>
      </LoginLayout>
    );
  if (error)
    return (
      <LoginLayout title="Set a password">
        <ErrorAlert error={error} onRetry={() => void refetch()} />
      </LoginLayout>
    );
  if (!link) return <PageLoading />;
  const isLoggedIn = session?.member.email.toLowerCase() === link.email.toLowerCase();
  if (link.purpose === 'invitation' && (isLoggedIn || hasAccount))
    return <AcceptInvitation token={token} link={link} onBack={() => setHasAccount(false)} />;
  return <SetPasswordForm token={token} link={link} onHasAccount={() => setHasAccount(true)} />;
}
