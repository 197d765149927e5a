import { Alert, List, Text } from '@mantine/core';
import { Icon } from '../../shared/Icon.tsx';
import { Moment } from '../../shared/Moment.tsx';
import { PageLink } from '../../shared/PageLink.tsx';
import { useSubscriptions } from '../../shared/subscription-names.ts';

/** On top of everything else: who does not answer now. */
export function FailingEndpoints() {
  const failing = useSubscriptions().filter(
    ({ deliveries_failing_since: since, state }) => since !== undefined || state === 'failed',
  );
  if (failing.length === 0) return null;
  return (
    <Alert
      color="red"
      variant="light"
      icon={<Icon name="warning" />}
      title={failing.length === 1 ? 'One endpoint is failing' : `${failing.length} endpoints are failing`}
    >
      <List size="sm" spacing={4} listStyleType="none">
        {failing.map(({ guid, name, state, deliveries_failing_since: since }) => (
          <List.Item key={guid}>
            <PageLink to="/subscriptions/$guid" params={{ guid }} fw={600} size="sm">
              {name}
            </PageLink>{' '}
            {state === 'failed' ? (
              <Text span size="sm">
                has failed for good; create a new subscription
              </Text>
            ) : since ? (
              <Text span size="sm">
                since <Moment at={since} />
              </Text>
            ) : null}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
