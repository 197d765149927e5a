import { Alert, List, Stack, Text } from '@mantine/core';
import { SubscriptionLabel } from '../../shared/deliveries/SubscriptionLabel.tsx';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { StaleAlert } from '../../shared/feedback/StaleAlert.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { type FailingEndpoint, useFailingEndpoints } from './use-failing-endpoints.ts';

export function FailingEndpoints() {
  const { failing, error, retry } = useFailingEndpoints();
  if (error && !failing)
    return <ErrorAlert error={error} title="Could not load endpoint status" onRetry={retry} />;
  const stale = error ? <StaleAlert what="the endpoint status" /> : null;
  if (!failing || failing.length === 0) return stale;
  return (
    <Stack gap="sm">
      {stale}
      <Alert
        color="red"
        variant="light"
        icon={<Icon name="warning" />}
        title={failing.length === 1 ? '1 endpoint is failing' : `${failing.length} endpoints are failing`}
      >
        <List size="sm" spacing={4} listStyleType="none">
          {failing.map((endpoint) => (
            <List.Item key={endpoint.guid}>
              <SubscriptionLabel guid={endpoint.guid} /> <FailureDetail endpoint={endpoint} />
            </List.Item>
          ))}
        </List>
      </Alert>
    </Stack>
  );
}

function FailureDetail({ endpoint: { since, hasFailed, waiting } }: { endpoint: FailingEndpoint }) {
  return (
    <Text span size="sm">
      {hasFailed ? 'has failed permanently. Create a new subscription.' : null}
      {!hasFailed && since ? (
        <>
          first failed <RelativeTime at={since} />. Retries continue automatically.
        </>
      ) : null}
      {waiting === undefined
        ? null
        : `${waiting === 1 ? '1 delivery is' : `${waiting} deliveries are`} waiting for a retry`}
    </Text>
  );
}
