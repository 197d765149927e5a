import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from './EmptyState.tsx';

/** `purpose` is what a bank is needed for. */
export function NoBank({ purpose }: { purpose: string }) {
  const { can } = useWorkspace();
  const canCreate = can('banks:execute');
  return (
    <EmptyState
      icon="bank"
      title="No banks yet"
      action={
        canCreate ? (
          // Developers cannot set up keys, so they create banks on the page of the Organization.
          <Button component={Link} to={can('bank_applications:write') ? '/onboarding' : '/organization'}>
            Create sandbox bank
          </Button>
        ) : undefined
      }
    >
      {purpose} {canCreate ? null : 'Ask a Founder, Key Admin or Developer to create one.'}
    </EmptyState>
  );
}
