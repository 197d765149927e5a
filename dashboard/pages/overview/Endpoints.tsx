import { Group, Progress, Table, Text } from '@mantine/core';
import type { EndpointStatistics } from '../../api/types.ts';
import tableStyles from '../../shared/DataTable.module.css';
import { Duration } from '../../shared/Duration.tsx';
import { SubscriptionLabel } from '../../shared/SubscriptionLabel.tsx';
import { percent } from './statistics.ts';

/** Each endpoint of the time shown, those in trouble first. */
export function Endpoints({ endpoints }: { endpoints: readonly EndpointStatistics[] }) {
  const sorted = endpoints.toSorted((a, b) => (a.success_rate ?? 1) - (b.success_rate ?? 1));
  return (
    <Table
      className={tableStyles.table}
      verticalSpacing="sm"
      horizontalSpacing="lg"
      aria-label="Endpoints"
      role="table"
    >
      <Table.Thead role="rowgroup">
        <Table.Tr role="row">
          {['Endpoint', 'Success', 'Delivered', 'Failed attempts', 'p50', 'p99'].map((title) => (
            <Table.Th key={title} role="columnheader" className={tableStyles.head}>
              {title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody role="rowgroup">
        {sorted.map((endpoint) => (
          <Table.Tr key={endpoint.subscription_guid} role="row">
            <Table.Td role="cell" data-label="Endpoint">
              <SubscriptionLabel guid={endpoint.subscription_guid} />
            </Table.Td>
            <Table.Td role="cell" data-label="Success">
              <SuccessRate rate={endpoint.success_rate} />
            </Table.Td>
            <Table.Td role="cell" data-label="Delivered">
              {endpoint.completed.toLocaleString('en')}
            </Table.Td>
            <Table.Td role="cell" data-label="Failed attempts">
              {endpoint.failed_attempts.toLocaleString('en')}
            </Table.Td>
            <Table.Td role="cell" data-label="p50">
              <Duration ms={endpoint.p50_ms} />
            </Table.Td>
            <Table.Td role="cell" data-label="p99">
              <Duration ms={endpoint.p99_ms} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function SuccessRate({ rate }: { rate: number | undefined }) {
  if (rate === undefined)
    return (
      <Text size="sm" c="dimmed">
        –
      </Text>
    );
  const color = rate >= 0.99 ? 'teal' : rate >= 0.9 ? 'yellow' : 'red';
  return (
    <Group gap="xs" wrap="nowrap">
      <Progress value={rate * 100} color={color} w={64} size="sm" aria-label={`Success ${percent(rate)}`} />
      <Text size="sm">{percent(rate)}</Text>
    </Group>
  );
}
