import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ROLE_LABELS } from '../api/permissions.ts';
import { useServices } from '../session/services.ts';
import { useRefreshSession } from '../session/session.ts';
import { useWorkspace } from '../session/workspace.ts';
import { EmptyState } from '../shared/feedback/EmptyState.tsx';
import { ProofForm } from './ProofForm.tsx';

/** Replaces every page except the account while the workspace is locked. */
export function SecondFactorRequired() {
  const { session, organization } = useWorkspace();
  const { tokens } = useServices();
  const refreshSession = useRefreshSession();
  const { has_totp: hasTotp, passkey_count: passkeys } = session.member;
  const unlock = () => {
    tokens.clear();
    return refreshSession();
  };
  if (hasTotp || passkeys > 0)
    return (
      <EmptyState
        icon="shield"
        title="Confirm your second factor"
        action={<ProofForm secondFactor onProved={unlock} />}
      >
        {organization.name} requires a second factor. You logged in without one.
      </EmptyState>
    );
  return (
    <EmptyState
      icon="shield"
      title="Set up a second factor"
      action={
        <Button component={Link} to="/account">
          Open account settings
        </Button>
      }
    >
      {organization.name} requires a second factor for the {ROLE_LABELS[organization.role]} role. Add an
      authenticator app or a passkey to continue.
    </EmptyState>
  );
}
