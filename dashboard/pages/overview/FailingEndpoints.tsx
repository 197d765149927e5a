import { Alert, List, Stack, Text } from '@mantine/core';
import type { EndpointHealth } from '../../api/types.ts';
import {
  causeLabel,
  currentError,
  errorCountsLabel,
  reasonLabel,
} from '../../shared/endpoints/endpoint-labels.ts';
import { NewestAttempt } from '../../shared/endpoints/NewestAttempt.tsx';
import { Since } from '../../shared/endpoints/Since.tsx';
import { useEndpoints } from '../../shared/endpoints/use-endpoints.ts';
import { WaitingSummary } from '../../shared/endpoints/WaitingSummary.tsx';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { StaleAlert } from '../../shared/feedback/StaleAlert.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';

const REFRESH_MS = 15_000;

export function FailingEndpoints() {
  const { data, error, refetch } = useEndpoints(REFRESH_MS);
  if (error && !data)
    return <ErrorAlert error={error} title="Could not load endpoint status" onRetry={() => void refetch()} />;
  const stale = error ? <StaleAlert what="the endpoint status" /> : null;
  const failing = data?.objects.filter(({ health }) => health === 'failing' || health === 'failed') ?? [];
  if (failing.length === 0) return stale;
  const hasFailed = failing.some(({ health }) => health === 'failed');
  return (
    <Stack gap="sm">
      {stale}
      <Alert
        color={hasFailed ? 'red' : 'orange'}
        variant="light"
        icon={<Icon name="warning" />}
        title={failing.length === 1 ? '1 endpoint is failing' : `${failing.length} endpoints are failing`}
      >
        <List size="sm" spacing="xs" listStyleType="none">
          {failing.map((endpoint) => (
            <List.Item key={endpoint.subscription_guid} style={{ overflowWrap: 'anywhere' }}>
              <PageLink
                to="/subscriptions/$guid"
                params={{ guid: endpoint.subscription_guid }}
                size="sm"
                fw={600}
                underline="always"
              >
                {endpoint.name}
              </PageLink>{' '}
              <FailureDetail endpoint={endpoint} />
              <FailureCounts endpoint={endpoint} />
            </List.Item>
          ))}
        </List>
      </Alert>
    </Stack>
  );
}

function FailureDetail({ endpoint }: { endpoint: EndpointHealth }) {
  const error = currentError(endpoint);
  const text = error && reasonLabel(error);
  return (
    <Text span size="sm">
      {endpoint.health === 'failed' ? 'has failed permanently. Create a new subscription. ' : null}
      {error ? causeLabel(error) : 'fails'}
      {endpoint.failing_since ? (
        <>
          {' '}
          since <Since at={endpoint.failing_since} />
        </>
      ) : null}
      {text ? ` (“${text}”)` : null}
      {' · '}
      <WaitingSummary endpoint={endpoint} />
    </Text>
  );
}

function FailureCounts({ endpoint }: { endpoint: EndpointHealth }) {
  const error = currentError(endpoint);
  if (!error) return null;
  return (
    <Text size="xs">
      {errorCountsLabel(endpoint)}
      {endpoint.errors.length > 0 ? ' · ' : null}
      <NewestAttempt error={error} inherit />
    </Text>
  );
}
