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

/** Opened by invitation and reset links. The token is in the URL fragment, so it never appears in a server log. */
export function SetPasswordPage() {
  // The API does not reveal whether the invited email address has an account, so the user says so.
  const [hasAccount, setHasAccount] = useState(false);
  const { data: session } = useSession();
  const [token] = useState(() => new URLSearchParams(location.hash.slice(1)).get('token') ?? '');
  // Keeps the token out of bookmarks and the history.
  useEffect(() => history.replaceState(history.state, '', location.pathname), []);
  const {
    data: link,
    error,
    refetch,
  } = useQuery({
    // Without the token: query keys are visible in developer tools.
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
              ? 'Open the link again. For security, this page does not keep it after a reload.'
              : 'The link was already used or has expired. Request a new link, or ask a Founder to invite you again.'}
          </Text>
          <Button component={Link} to="/forgot-password" variant="light" fullWidth>
            Reset password
          </Button>
          <Anchor component={Link} to="/login" size="sm">
            Log in
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
