import { Button, Group, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Query } from '../../api/send.ts';
import type { Delivery } from '../../api/types.ts';
import { useFilters } from '../filters/use-filters.ts';
import { type Column, DataTable } from '../table/DataTable.tsx';
import { useList } from '../table/use-list.ts';
import { BreakableText } from '../text/BreakableText.tsx';
import { CellText } from '../text/CellText.tsx';
import { PageLink } from '../text/PageLink.tsx';
import { Duration } from '../time/Duration.tsx';
import { RelativeTime } from '../time/RelativeTime.tsx';
import { DeliveryDrawer } from './DeliveryDrawer.tsx';
import { DeliveryOutcome } from './DeliveryOutcome.tsx';
import { DeliveryFilters, deliveryQueryOf, isFiltered } from './filters/DeliveryFilters.tsx';
import { NoMatch } from './filters/NoMatch.tsx';
import { NextAttempt } from './NextAttempt.tsx';
import { RedeliverSelected, RedeliveryOutcomes } from './redelivery/RedeliverSelected.tsx';
import { useRedeliverMany } from './redelivery/use-redeliver-many.ts';
import { useSelection } from './redelivery/use-selection.tsx';
import { SubscriptionLabel } from './SubscriptionLabel.tsx';

const REFRESH_MS = 5_000;
/** While a first attempt is pending: the user has often just sent it. */
const REFRESH_PENDING_MS = 1_000;

export function DeliveryTable({
  query,
  showEvent = false,
  showSubscription = false,
  filterable = false,
  empty,
}: {
  query: Query;
  showEvent?: boolean;
  showSubscription?: boolean;
  /** Shows the filters of `DeliveryFilters` and applies those in the address. */
  filterable?: boolean;
  empty: ReactNode;
}) {
  const { filters } = useFilters();
  const [opened, setOpened] = useState<string>();
  const result = useList<Delivery>(
    '/subscription_deliveries',
    { ...(filterable ? deliveryQueryOf(filters) : {}), ...query, after: filters.after },
    {
      refetchInterval: (list) =>
        list?.objects.some(isFirstAttemptPending) ? REFRESH_PENDING_MS : REFRESH_MS,
    },
  );
  const selection = useSelection();
  const redelivery = useRedeliverMany();
  const columns: Column<Delivery>[] = [
    ...(showEvent ? [EVENT] : []),
    ...(showSubscription ? [SUBSCRIPTION] : []),
    { title: 'State', cell: (delivery) => <DeliveryOutcome delivery={delivery} /> },
    {
      title: 'Attempts',
      secondary: true,
      cell: ({ attempt_count: count, next_attempt_at: next }) => (
        <Group gap={6} wrap="nowrap">
          <Text size="sm">{count}</Text>
          {next && count > 0 ? <NextAttempt at={next} short /> : null}
        </Group>
      ),
    },
    { title: 'Duration', secondary: true, cell: ({ response_time_ms: ms }) => <Duration ms={ms} /> },
    { title: 'Created', cell: ({ created_at: at }) => <RelativeTime at={at} /> },
    {
      title: 'Details',
      titleHidden: true,
      align: 'right',
      cell: ({ guid }) => (
        <Button variant="subtle" size="compact-xs" onClick={() => setOpened(guid)}>
          View attempts
        </Button>
      ),
    },
  ];
  return (
    <>
      {filterable ? <DeliveryFilters withSubscription={showSubscription} /> : null}
      <RedeliveryOutcomes redelivery={redelivery} />
      <DataTable
        result={result}
        label="Deliveries"
        keyOf={({ guid }) => guid}
        columns={columns.map((column, index) =>
          index === 0 && selection.isOffered ? selection.withCheckbox(column) : column,
        )}
        toolbar={
          selection.isOffered ? (
            <RedeliverSelected
              selection={selection}
              listed={result.data?.objects ?? []}
              redelivery={redelivery}
            />
          ) : undefined
        }
        empty={filterable && isFiltered(filters) ? <NoMatch what="deliveries" /> : empty}
      />
      {opened ? <DeliveryDrawer guid={opened} onClose={() => setOpened(undefined)} /> : null}
    </>
  );
}

function isFirstAttemptPending({ state, attempt_count: count }: Delivery): boolean {
  return state === 'storing' && count === 0;
}

const EVENT: Column<Delivery> = {
  title: 'Event',
  cell: ({ event_type: type, subscription_event_guid: guid }) => (
    <PageLink to="/events/$guid" params={{ guid }} size="sm" ff="monospace" fz={13}>
      <BreakableText text={type} />
    </PageLink>
  ),
};

const SUBSCRIPTION: Column<Delivery> = {
  title: 'Subscription',
  cell: ({ subscription_guid: guid }) => (
    <CellText>
      <SubscriptionLabel guid={guid} />
    </CellText>
  ),
};
