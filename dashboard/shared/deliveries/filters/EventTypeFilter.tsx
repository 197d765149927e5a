import { Select } from '@mantine/core';
import { EVENT_TYPES } from '../../../../server/webhooks/events/catalogue.ts';
import { useFilters } from '../../filters/use-filters.ts';

export function EventTypeFilter() {
  const { filters, change } = useFilters();
  return (
    <Select
      label="Type"
      placeholder="All types"
      searchable
      clearable
      data={EVENT_TYPES.map((type) => type)}
      value={filters.type ?? null}
      onChange={(type) => change({ type: type ?? undefined })}
    />
  );
}
