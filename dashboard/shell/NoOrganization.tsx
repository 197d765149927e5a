import { Button } from '@mantine/core';
import type { Session } from '../api/types.ts';
import { EmptyState } from '../shared/feedback/EmptyState.tsx';
import { useLogOut } from './header/use-log-out.ts';

export function NoOrganization({ session }: { session: Session }) {
  const logOut = useLogOut();
  return (
    <EmptyState
      icon="team"
      title="You belong to no Organization"
      action={
        <Button variant="light" onClick={logOut}>
          Log out
        </Button>
      }
    >
      {session.member.email} was removed from its last Organization. Ask one of its Founders for an
      invitation, or write to {session.support_email}.
    </EmptyState>
  );
}
