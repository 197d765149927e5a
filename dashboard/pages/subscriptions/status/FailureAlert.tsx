import { Alert, Code, Stack, Text } from '@mantine/core';
import { FAILS_AFTER_MS } from '../../../../server/webhooks/subscriptions/state.ts';
import type { EndpointHealth } from '../../../api/types.ts';
import {
  causeLabel,
  currentError,
  errorCountsLabel,
  reasonLabel,
} from '../../../shared/endpoints/endpoint-labels.ts';
import { NewestAttempt } from '../../../shared/endpoints/NewestAttempt.tsx';
import { Since } from '../../../shared/endpoints/Since.tsx';
import { useEndpoint } from '../../../shared/endpoints/use-endpoints.ts';
import { WaitingSummary } from '../../../shared/endpoints/WaitingSummary.tsx';
import { Icon } from '../../../shared/text/Icon.tsx';
import { formatRemaining } from '../../../shared/time/format-time.ts';
import { useNow } from '../../../shared/time/NowProvider.tsx';

/** Why the endpoint fails, since when, how much waits and what happens next. */
export function FailureAlert({ guid }: { guid: string }) {
  const endpoint = useEndpoint(guid);
  const error = endpoint && currentError(endpoint);
  if (!endpoint || !error) return null;
  const hasFailed = endpoint.health === 'failed';
  const text = reasonLabel(error);
  return (
    <Alert
      color={hasFailed ? 'red' : 'orange'}
      variant="light"
      icon={<Icon name="warning" />}
      title={
        <>
          The endpoint {causeLabel(error)}
          {endpoint.failing_since ? (
            <>
              {' '}
              since <Since at={endpoint.failing_since} />
            </>
          ) : null}
        </>
      }
    >
      <Stack gap={6} align="flex-start">
        {text ? <Code style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>{text}</Code> : null}
        <Text size="sm">
          {errorCountsLabel(endpoint)}
          {endpoint.errors.length > 0 ? ' · ' : null}
          <WaitingSummary endpoint={endpoint} />
        </Text>
        {hasFailed ? (
          <Text size="sm">The subscription has failed permanently. Create a new subscription.</Text>
        ) : (
          <Deadline endpoint={endpoint} />
        )}
        <NewestAttempt error={error} size="sm" />
      </Stack>
    </Alert>
  );
}

function Deadline({ endpoint: { failing_since: since } }: { endpoint: EndpointHealth }) {
  const now = useNow();
  if (!since) return null;
  return (
    <Text size="sm">
      Retries continue automatically. Without a success the subscription fails permanently in{' '}
      {formatRemaining(new Date(Date.parse(since) + FAILS_AFTER_MS).toISOString(), now)}.
    </Text>
  );
}
