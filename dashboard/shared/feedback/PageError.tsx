import { Container } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorAlert } from './ErrorAlert.tsx';

/** A page that broke. A new version may have replaced its parts, so trying again loads everything anew. */
export function PageError({ error }: ErrorComponentProps) {
  return (
    <Container size="sm" py="xl">
      <ErrorAlert error={error} onRetry={() => location.reload()} />
    </Container>
  );
}
