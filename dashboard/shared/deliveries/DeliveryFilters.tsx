import { Box, Select } from '@mantine/core';
import { EVENT_TYPES } from '../../../server/webhooks/events/catalogue.ts';
import type { Query } from '../../api/send.ts';
import { EmptyState } from '../feedback/EmptyState.tsx';
import { DateTimeFilter } from '../filters/DateTimeFilter.tsx';
import { FilterBar } from '../filters/FilterBar.tsx';
import type { Search } from '../filters/search.ts';
import { useFilters } from '../filters/use-filters.ts';
import { DeliveryStateFilter } from './DeliveryStateFilter.tsx';
import { queryOfState } from './delivery-labels.ts';

/** Named like the parameters of the API, so that other pages can link to a filtered list. */
const NAMES = ['state', 'event_type', 'created_at_gte', 'created_at_lt'] as const;

export function deliveryQueryOf(filters: Search): Query {
  return {
    ...queryOfState(filters.state),
    event_type: filters.event_type,
    created_at_gte: filters.created_at_gte,
    created_at_lt: filters.created_at_lt,
  };
}

export function isFiltered(filters: Search): boolean {
  return NAMES.some((name) => filters[name] !== undefined);
}

/** Filters of the deliveries of one endpoint. */
export function DeliveryFilters() {
  const { filters, change } = useFilters();
  return (
    <Box px="lg" pt="xs">
      <FilterBar names={NAMES}>
        <DeliveryStateFilter value={filters.state} onChange={(state) => change({ state })} />
        <Select
          label="Type"
          placeholder="All types"
          searchable
          clearable
          data={EVENT_TYPES.map((type) => type)}
          value={filters.event_type ?? null}
          onChange={(type) => change({ event_type: type ?? undefined })}
        />
        <DateTimeFilter
          label="From"
          value={filters.created_at_gte}
          onChange={(from) => change({ created_at_gte: from })}
        />
        <DateTimeFilter
          label="Until"
          value={filters.created_at_lt}
          onChange={(until) => change({ created_at_lt: until })}
        />
      </FilterBar>
    </Box>
  );
}

export function NoMatch() {
  return (
    <EmptyState icon="search" title="No deliveries match these filters">
      Extend the time range or clear a filter. By default, deliveries are kept for 30 days.
    </EmptyState>
  );
}
