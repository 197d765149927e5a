import { Box } from '@mantine/core';
import type { Query } from '../../../api/send.ts';
import { FilterBar } from '../../filters/FilterBar.tsx';
import type { Search } from '../../filters/search.ts';
import { TimeFilter } from '../../filters/TimeFilter.tsx';
import { TIME_FILTERS, timeRangeOf } from '../../filters/time-range.ts';
import { useFilters } from '../../filters/use-filters.ts';
import { queryOfState } from '../delivery-labels.ts';
import { DeliveryStateFilter } from './DeliveryStateFilter.tsx';
import { EventTypeFilter } from './EventTypeFilter.tsx';
import { SubscriptionFilter } from './SubscriptionFilter.tsx';

const NAMES = ['state', 'type', 'subscription', ...TIME_FILTERS] as const;

export function deliveryQueryOf(filters: Search): Query {
  const { from, until } = timeRangeOf(filters);
  return {
    ...queryOfState(filters.state),
    event_type: filters.type,
    subscription_guid: filters.subscription,
    created_at_gte: from,
    created_at_lt: until,
  };
}

export function isFiltered(filters: Search): boolean {
  return NAMES.some((name) => filters[name] !== undefined);
}

export function DeliveryFilters({ withSubscription }: { withSubscription: boolean }) {
  const { filters, change } = useFilters();
  return (
    <Box px="md" pt={withSubscription ? 'sm' : 0} mb="calc(var(--mantine-spacing-xs) * -1)">
      <FilterBar names={NAMES}>
        <DeliveryStateFilter value={filters.state} onChange={(state) => change({ state })} />
        <EventTypeFilter />
        {withSubscription ? <SubscriptionFilter /> : null}
        <TimeFilter label="Created" />
      </FilterBar>
    </Box>
  );
}
