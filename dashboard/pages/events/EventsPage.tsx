import { Select } from '@mantine/core';
import type { ListedEvent } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { DeliveryStateFilter } from '../../shared/deliveries/filters/DeliveryStateFilter.tsx';
import { EventTypeFilter } from '../../shared/deliveries/filters/EventTypeFilter.tsx';
import { NoMatch } from '../../shared/deliveries/filters/NoMatch.tsx';
import { SubscriptionFilter } from '../../shared/deliveries/filters/SubscriptionFilter.tsx';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { FilterBar } from '../../shared/filters/FilterBar.tsx';
import { GuidFilter } from '../../shared/filters/GuidFilter.tsx';
import { TimeFilter } from '../../shared/filters/TimeFilter.tsx';
import { TIME_FILTERS, timeRangeOf } from '../../shared/filters/time-range.ts';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { type Column, DataTable } from '../../shared/table/DataTable.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { BreakableText } from '../../shared/text/BreakableText.tsx';
import { Guid } from '../../shared/text/Guid.tsx';
import { ObjectLink } from '../../shared/text/ObjectLink.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { RedeliverButton } from '../subscriptions/redelivery/RedeliverButton.tsx';
import { BankName } from './BankName.tsx';
import { DeliveryCounts } from './DeliveryCounts.tsx';

const REFRESH_MS = 5_000;

export function EventsPage() {
  const { bank, environment, can } = useWorkspace();
  const { filters, change } = useFilters();
  const allBanks = filters.banks === 'all' || !bank;
  const { from, until } = timeRangeOf(filters);
  const isFiltered = ['type', 'object', 'delivery_state', 'subscription', ...TIME_FILTERS].some(
    (name) => name in filters,
  );
  const result = useList<ListedEvent>(
    '/subscription_events',
    {
      environment,
      event_type: filters.type,
      object_guid: filters.object,
      bank_guid: allBanks ? undefined : bank.guid,
      created_at_gte: from,
      created_at_lt: until,
      delivery_state: filters.delivery_state,
      subscription_guid: filters.subscription,
      include: 'delivery_counts',
      after: filters.after,
    },
    { refetchInterval: REFRESH_MS },
  );
  return (
    <>
      <PageHeader
        title="Events"
        guide="webhooks#event-types"
        actions={can('subscription_events:execute') ? <RedeliverButton /> : undefined}
      >
        Events{allBanks ? ` in ${environment}` : ` of ${bank.name}`}. Open an event to see its deliveries.
        {allBanks
          ? null
          : ' Events without a bank, such as subscription.storing, are listed under All banks.'}
      </PageHeader>
      <FilterBar names={['type', 'object', 'banks', 'delivery_state', 'subscription', ...TIME_FILTERS]}>
        <EventTypeFilter />
        <Select
          label="Bank"
          allowDeselect={false}
          data={[...(bank ? [{ value: 'one', label: bank.name }] : []), { value: 'all', label: 'All banks' }]}
          value={allBanks ? 'all' : 'one'}
          onChange={(banks) => change({ banks: banks === 'all' ? 'all' : undefined })}
        />
        <DeliveryStateFilter
          label="Delivery"
          value={filters.delivery_state}
          onChange={(state) => change({ delivery_state: state })}
        />
        <SubscriptionFilter />
        <GuidFilter label="Object" value={filters.object} onChange={(object) => change({ object })} />
        <TimeFilter />
      </FilterBar>
      <Panel flush>
        <DataTable
          result={result}
          label="Events"
          keyOf={({ guid }) => guid}
          columns={COLUMNS}
          empty={
            isFiltered ? (
              <NoMatch what="events" />
            ) : (
              <EmptyState icon="events" title={`No events in ${environment} yet`}>
                Events are created when objects change.
                {environment === 'sandbox' ? ' Create a transfer under Sandbox to see some.' : null}
              </EmptyState>
            )
          }
        />
      </Panel>
    </>
  );
}

const COLUMNS: Column<ListedEvent>[] = [
  {
    title: 'Type',
    cell: ({ guid, event_type: type }) => (
      <PageLink to="/events/$guid" params={{ guid }} size="sm" ff="monospace" fz={13} fw={600}>
        <BreakableText text={type} />
      </PageLink>
    ),
  },
  { title: 'Deliveries', cell: ({ delivery_counts: counts }) => <DeliveryCounts counts={counts} /> },
  {
    title: 'Object',
    cell: ({ event_type: type, object_guid: guid }) => (
      <ObjectLink type={type.split('.')[0] ?? ''} guid={guid} />
    ),
  },
  { title: 'Bank', cell: ({ bank_guid: guid }) => <BankName guid={guid} /> },
  { title: 'ID', secondary: true, cell: ({ guid }) => <Guid value={guid} name="ID of the event" /> },
  { title: 'Created', cell: ({ created_at: at }) => <RelativeTime at={at} /> },
];
