import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import type { EndpointStatistics } from '../../api/types.ts';
import { SubscriptionLabel } from '../../shared/deliveries/SubscriptionLabel.tsx';
import tableStyles from '../../shared/table/DataTable.module.css';
import { Duration } from '../../shared/time/Duration.tsx';
import { SuccessRate } from './SuccessRate.tsx';

type Column = { title: string; cell: (endpoint: EndpointStatistics) => ReactNode };

const COLUMNS: readonly Column[] = [
  { title: 'Endpoint', cell: ({ subscription_guid: guid }) => <SubscriptionLabel guid={guid} /> },
  { title: 'Success rate', cell: ({ success_rate: rate }) => <SuccessRate rate={rate} /> },
  { title: 'Delivered', cell: ({ completed }) => completed.toLocaleString('en') },
  { title: 'Failed attempts', cell: ({ failed_attempts: failed }) => failed.toLocaleString('en') },
  { title: 'p50', cell: ({ p50_ms: ms }) => <Duration ms={ms} /> },
  { title: 'p99', cell: ({ p99_ms: ms }) => <Duration ms={ms} /> },
];

export function EndpointTable({ endpoints }: { endpoints: readonly EndpointStatistics[] }) {
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
  );
}
