import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ROLE_LABELS } from '../api/permissions.ts';
import { useServices } from '../session/services.ts';
import { SESSION_KEY } from '../session/session.ts';
import { useWorkspace } from '../session/workspace.ts';
import { EmptyState } from '../shared/feedback/EmptyState.tsx';
import { ProofForm } from './ProofForm.tsx';

/** In place of every page but one's own account, while the Organization requires a second factor and none was given. */
export function SecondFactorRequired() {
  const { session, organization } = useWorkspace();
  const { tokens } = useServices();
  const queries = useQueryClient();
  const { has_totp: hasTotp, passkey_count: passkeys } = session.member;
  const proved = () => {
    tokens.forget();
    return queries.invalidateQueries({ queryKey: SESSION_KEY });
  };
  if (hasTotp || passkeys > 0)
    return (
      <EmptyState
        icon="shield"
        title="Confirm your second factor"
        action={<ProofForm secondFactor onProved={proved} />}
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
          Set it up
        </Button>
      }
    >
      {organization.name} requires a second factor for the {ROLE_LABELS[organization.role]} role. Add an
      authenticator app or a passkey to continue.
    </EmptyState>
  );
}
