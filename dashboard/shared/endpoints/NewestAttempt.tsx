import type { AnchorProps } from '@mantine/core';
import type { EndpointHealth } from '../../api/types.ts';
import { PageLink } from '../text/PageLink.tsx';

export function NewestAttempt({
  error,
  ...style
}: { error: NonNullable<EndpointHealth['last_error']> } & Pick<AnchorProps, 'size' | 'inherit'>) {
  return (
    <PageLink to="/deliveries/$guid" params={{ guid: error.delivery_guid }} underline="always" {...style}>
      View the newest unsuccessful attempt
    </PageLink>
  );
}
