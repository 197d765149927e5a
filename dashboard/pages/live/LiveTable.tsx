import { Button, Table } from '@mantine/core';
import { DeliveryOutcome } from '../../shared/deliveries/DeliveryOutcome.tsx';
import { SubscriptionLabel } from '../../shared/deliveries/SubscriptionLabel.tsx';
import tableStyles from '../../shared/table/DataTable.module.css';
import { BreakableText } from '../../shared/text/BreakableText.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { Duration } from '../../shared/time/Duration.tsx';
import type { LiveRow } from './use-live.ts';

const clock = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23' });

export function LiveTable({
  rows,
  onOpen,
}: {
  rows: readonly LiveRow[];
  onOpen: (deliveryGuid: string) => void;
}) {
  return (
    <div className={tableStyles.scroll}>
      <Table
        className={tableStyles.table}
        verticalSpacing={5}
        horizontalSpacing="md"
        aria-label="Attempts"
        role="table"
      >
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {['Time', 'Event', 'Subscription', 'Outcome', 'Duration'].map((title) => (
              <Table.Th key={title} role="columnheader" className={tableStyles.head}>
                {title}
              </Table.Th>
            ))}
            <Table.Th role="columnheader" className={tableStyles.head}>
              <span className={tableStyles.hidden}>Details</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {rows.map((row) => (
            <Table.Tr key={row.key} role="row">
              <Table.Td role="cell" data-label="Time" ff="monospace" fz={13}>
                {clock.format(new Date(row.attempted_at))}
              </Table.Td>
              <Table.Td role="cell" data-label="Event">
                <PageLink
                  to="/events/$guid"
                  params={{ guid: row.subscription_event_guid }}
                  size="sm"
                  ff="monospace"
                  fz={13}
                >
                  <BreakableText text={row.event_type} />
                </PageLink>
              </Table.Td>
              <Table.Td role="cell" data-label="Subscription">
                <SubscriptionLabel guid={row.subscription_guid} />
              </Table.Td>
              <Table.Td role="cell" data-label="Outcome">
                <DeliveryOutcome delivery={row} />
              </Table.Td>
              <Table.Td role="cell" data-label="Duration">
                <Duration ms={row.response_time_ms} />
              </Table.Td>
              <Table.Td role="cell" ta="right">
                <Button variant="subtle" size="compact-xs" onClick={() => onOpen(row.guid)}>
                  View attempts
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
