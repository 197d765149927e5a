import { Alert, List, Stack, Text } from '@mantine/core';
import { SubscriptionLabel } from '../../shared/deliveries/SubscriptionLabel.tsx';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { StaleAlert } from '../../shared/feedback/StaleAlert.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { type Failing, useFailingEndpoints } from './use-failing-endpoints.ts';

/** On top of everything else: who does not answer now. */
export function FailingEndpoints() {
  const { failing, error, retry } = useFailingEndpoints();
  if (error && !failing)
    return <ErrorAlert error={error} title="Whether endpoints are failing is not known" onRetry={retry} />;
  const outOfDate = error ? <StaleAlert what="Which endpoints are failing" /> : null;
  if (!failing || failing.length === 0) return outOfDate;
  return (
    <Stack gap="sm">
      {outOfDate}
      <Alert
        color="red"
        variant="light"
        icon={<Icon name="warning" />}
        title={failing.length === 1 ? 'One endpoint is failing' : `${failing.length} endpoints are failing`}
      >
        <List size="sm" spacing={4} listStyleType="none">
          {failing.map((endpoint) => (
            <List.Item key={endpoint.guid}>
              <SubscriptionLabel guid={endpoint.guid} /> <Trouble endpoint={endpoint} />
            </List.Item>
          ))}
        </List>
      </Alert>
    </Stack>
  );
}

function Trouble({ endpoint: { since, isOver, waiting } }: { endpoint: Failing }) {
  return (
    <Text span size="sm">
      {isOver ? 'has failed for good; create a new subscription' : null}
      {!isOver && since ? (
        <>
          first failed <RelativeTime at={since} />, and is tried again by itself
        </>
      ) : null}
      {waiting === undefined
        ? null
        : `${waiting === 1 ? 'one delivery waits' : `${waiting} deliveries wait`} to be sent again`}
    </Text>
  );
}
