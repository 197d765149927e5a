import { Button, Text } from '@mantine/core';
import { useMemo } from 'react';
import { DeliveryOutcome } from '../../shared/deliveries/DeliveryOutcome.tsx';
import { SubscriptionLabel } from '../../shared/deliveries/SubscriptionLabel.tsx';
import { type Column, ColumnTable } from '../../shared/table/ColumnTable.tsx';
import { BreakableText } from '../../shared/text/BreakableText.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { Duration } from '../../shared/time/Duration.tsx';
import { formatClock, formatExactTime } from '../../shared/time/format-time.ts';
import { useTimeForm } from '../../shared/time/time-form.tsx';
import type { LiveRow } from './use-live.ts';

const COLUMNS: readonly Column<LiveRow>[] = [
  {
    title: 'Time',
    cell: ({ attempted_at: at }) => <ClockTime at={at} />,
  },
  {
    title: 'Event',
    cell: ({ subscription_event_guid: guid, event_type: type }) => (
      <PageLink to="/events/$guid" params={{ guid }} size="sm" ff="monospace" fz={13}>
        <BreakableText text={type} />
      </PageLink>
    ),
  },
  { title: 'Subscription', cell: ({ subscription_guid: guid }) => <SubscriptionLabel guid={guid} /> },
  { title: 'Outcome', cell: (row) => <DeliveryOutcome delivery={row} /> },
  { title: 'Duration', cell: ({ response_time_ms: ms }) => <Duration ms={ms} /> },
];

export function LiveTable({
  rows,
  onOpen,
}: {
  rows: readonly LiveRow[];
  onOpen: (deliveryGuid: string) => void;
}) {
  // The same columns each time, so that an attempt renders one row and not all of them.
  const columns = useMemo(() => [...COLUMNS, detailsOf(onOpen)], [onOpen]);
  return (
    <ColumnTable
      columns={columns}
      items={rows}
      keyOf={({ key }) => String(key)}
      label="Attempts"
      verticalSpacing={5}
      horizontalSpacing="md"
    />
  );
}

function detailsOf(onOpen: (deliveryGuid: string) => void): Column<LiveRow> {
  return {
    title: 'Details',
    titleHidden: true,
    align: 'right',
    cell: ({ guid }) => (
      <Button variant="subtle" size="compact-xs" onClick={() => onOpen(guid)}>
        View attempts
      </Button>
    ),
  };
}

function ClockTime({ at }: { at: string }) {
  const { form } = useTimeForm();
  return (
    <Text component="time" dateTime={at} title={formatExactTime(at)} inherit ff="monospace" fz={13}>
      {formatClock(at, form === 'utc' ? form : 'local')}
    </Text>
  );
}
