import { Alert } from '@mantine/core';
import type { Subscription } from '../../api/types.ts';
import { Icon } from '../../shared/text/Icon.tsx';

export function FailingAlert({ subscriptions }: { subscriptions: readonly Subscription[] }) {
  const failing = subscriptions.filter(
    ({ deliveries_failing_since: since, state }) => since !== undefined && state !== 'failed',
  );
  if (failing.length === 0) return null;
  return (
    <Alert
      color="orange"
      variant="light"
      mb="md"
      icon={<Icon name="warning" />}
      title={failing.length === 1 ? '1 endpoint is failing' : `${failing.length} endpoints are failing`}
    >
      Failed deliveries are retried for 7 days after the first failure. Then the subscription fails
      permanently.
    </Alert>
  );
}
