import { Container } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorAlert } from './ErrorAlert.tsx';

/** Retry reloads the document: a deployment may have replaced the scripts of this page. */
export function PageError({ error }: ErrorComponentProps) {
  return (
    <Container size="sm" py="xl">
      <ErrorAlert error={error} onRetry={() => location.reload()} />
    </Container>
  );
}
