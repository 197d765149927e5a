import { Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { EndpointHealth, EndpointStatistics } from '../../api/types.ts';
import { SubscriptionLabel } from '../../shared/deliveries/SubscriptionLabel.tsx';
import { HealthBadge } from '../../shared/endpoints/HealthBadge.tsx';
import { useEndpointsByGuid } from '../../shared/endpoints/use-endpoints.ts';
import { WaitingCount } from '../../shared/endpoints/WaitingCount.tsx';
import tableStyles from '../../shared/table/DataTable.module.css';
import { NoValue } from '../../shared/text/NoValue.tsx';
import { Duration } from '../../shared/time/Duration.tsx';
import { percent } from './charts/use-statistics.ts';
import { DeliveredRate } from './DeliveredRate.tsx';

type Shown = EndpointStatistics & { endpoint: EndpointHealth | undefined };
type Column = { title: string; cell: (shown: Shown) => ReactNode };

const COLUMNS: readonly Column[] = [
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
    <div className={tableStyles.scroll}>
      <Table
        className={tableStyles.table}
        verticalSpacing={6}
        horizontalSpacing="md"
        aria-label="Endpoints"
        role="table"
      >
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {COLUMNS.map(({ title }) => (
              <Table.Th key={title} role="columnheader" className={tableStyles.head}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {sorted.map((endpoint) => (
            <Table.Tr key={endpoint.subscription_guid} role="row">
              {COLUMNS.map(({ title, cell }) => (
                <Table.Td key={title} role="cell" data-label={title}>
                  {cell(endpoint)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
