import { Container } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { Failure } from './Failure.tsx';

/** A page that broke. A new version may have replaced its parts, so trying again loads everything anew. */
export function PageFailure({ error }: ErrorComponentProps) {
  return (
    <Container size="sm" py="xl">
      <Failure error={error} onRetry={() => location.reload()} />
    </Container>
  );
}
