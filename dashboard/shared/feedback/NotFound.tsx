import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { EmptyState } from './EmptyState.tsx';

export function NotFound() {
  return (
    <EmptyState
      icon="search"
      title="Page not found"
      action={
        <Button component={Link} to="/overview" variant="light">
          Go to overview
        </Button>
      }
    >
      Check the URL, or start from the overview.
    </EmptyState>
  );
}
