import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { EmptyState } from './EmptyState.tsx';

export function NotFound() {
  return (
    <EmptyState
      icon="search"
      title="There is no such page"
      action={
        <Button component={Link} to="/overview" variant="light">
          Go to the overview
        </Button>
      }
    >
      The address may be from an older version, or mistyped.
    </EmptyState>
  );
}
