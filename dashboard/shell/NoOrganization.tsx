import { Button } from '@mantine/core';
import type { Session } from '../api/types.ts';
import { EmptyState } from '../shared/feedback/EmptyState.tsx';
import { useLogOut } from './header/use-log-out.ts';

export function NoOrganization({ session }: { session: Session }) {
  const logOut = useLogOut();
  return (
    <EmptyState
      icon="team"
      title="You are not a member of an Organization"
      action={
        <Button variant="light" onClick={logOut}>
          Log out
        </Button>
      }
    >
      {session.member.email} was removed from its last Organization. Ask a Founder to invite you again, or
      contact {session.support_email}.
    </EmptyState>
  );
}
