import { Stack, Text } from '@mantine/core';
import type { EndpointHealth, EndpointStatistics } from '../../api/types.ts';
import { SubscriptionLabel } from '../../shared/deliveries/SubscriptionLabel.tsx';
import { HealthBadge } from '../../shared/endpoints/HealthBadge.tsx';
import { useEndpointsByGuid } from '../../shared/endpoints/use-endpoints.ts';
import { WaitingCount } from '../../shared/endpoints/WaitingCount.tsx';
import { type Column, ColumnTable } from '../../shared/table/ColumnTable.tsx';
import { NoValue } from '../../shared/text/NoValue.tsx';
import { Duration } from '../../shared/time/Duration.tsx';
import { DeliveredRate } from './DeliveredRate.tsx';
import { percent } from './percent.ts';

type Shown = EndpointStatistics & { endpoint: EndpointHealth | undefined };

const COLUMNS: readonly Column<Shown>[] = [
  {
    title: 'Endpoint',
    cell: ({ subscription_guid: guid, endpoint }) => (
      <Stack gap={0} miw={0}>
        <SubscriptionLabel guid={guid} />
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {endpoint?.host}
        </Text>
      </Stack>
    ),
  },
  { title: 'State', cell: ({ endpoint }) => (endpoint ? <HealthBadge {...endpoint} /> : <NoValue />) },
  { title: 'Delivered', cell: (shown) => <DeliveredRate {...shown} /> },
  {
    title: 'First attempt',
    secondary: true,
    cell: ({ due, completed_first_attempt: first }) =>
      due === 0 ? <NoValue /> : <Text size="sm">{percent(first / due)}</Text>,
  },
  { title: 'Waiting', cell: (shown) => <WaitingCount {...shown} /> },
  { title: 'p50', cell: ({ p50_ms: ms }) => <Duration ms={ms} /> },
  {
    title: 'p99',
    cell: ({ p99_ms: ms, timeouts }) => (
      <div>
        <Duration ms={ms} />
        {timeouts === 0 ? null : (
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
            {timeouts === 1 ? '1 timeout' : `${timeouts.toLocaleString('en')} timeouts`}
          </Text>
        )}
      </div>
    ),
  },
];

export function EndpointTable({ endpoints }: { endpoints: readonly EndpointStatistics[] }) {
  const health = useEndpointsByGuid();
  const sorted = endpoints
    .map((each) => ({ ...each, endpoint: health.get(each.subscription_guid) }))
    .toSorted((a, b) => b.waiting - a.waiting || (a.delivered_rate ?? 1) - (b.delivered_rate ?? 1));
  return (
    <ColumnTable
      columns={COLUMNS}
      items={sorted}
      keyOf={({ subscription_guid: guid }) => guid}
      label="Endpoints"
      verticalSpacing={6}
      horizontalSpacing="md"
    />
  );
}
