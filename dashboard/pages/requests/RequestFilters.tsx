import { Select } from '@mantine/core';
import { DateTimeFilter } from '../../shared/filters/DateTimeFilter.tsx';
import { FilterBar } from '../../shared/filters/FilterBar.tsx';
import { GuidFilter } from '../../shared/filters/GuidFilter.tsx';
import type { SearchName } from '../../shared/filters/search.ts';
import { TextFilter } from '../../shared/filters/TextFilter.tsx';
import { useFilters } from '../../shared/filters/use-filters.ts';

export const REQUEST_FILTERS = [
  'request_id',
  'status',
  'method',
  'path',
  'message_code',
  'client_id',
  'address',
  'from',
  'until',
] as const satisfies SearchName[];

const STATUSES = [
  { value: '4xx,5xx', label: 'All errors' },
  { value: '2xx', label: '2xx Success' },
  { value: '4xx', label: '4xx Rejected' },
  { value: '5xx', label: '5xx Service error' },
];
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'];

export function RequestFilters() {
  const { filters, change } = useFilters();
  const { status } = filters;
  const isListed = status === undefined || STATUSES.some(({ value }) => value === status);
  return (
    <FilterBar names={REQUEST_FILTERS}>
      <GuidFilter
        label="Request ID"
        value={filters.request_id}
        onChange={(request_id) => change({ request_id })}
      />
      <Select
        label="Status"
        placeholder="Any status"
        clearable
        data={isListed ? STATUSES : [...STATUSES, { value: status, label: status }]}
        value={status ?? null}
        onChange={(value) => change({ status: value ?? undefined })}
      />
      <Select
        label="Method"
        placeholder="Any method"
        clearable
        data={METHODS}
        value={filters.method ?? null}
        onChange={(method) => change({ method: method ?? undefined })}
      />
      <TextFilter
        label="Path"
        placeholder="/api/transfers/{guid}"
        value={filters.path}
        onChange={(path) => change({ path })}
      />
      <TextFilter
        label="Error code"
        placeholder="ip_not_allowed"
        value={filters.message_code}
        onChange={(message_code) => change({ message_code })}
      />
      <GuidFilter
        label="Client ID"
        value={filters.client_id}
        onChange={(client_id) => change({ client_id })}
      />
      <TextFilter
        label="Address"
        placeholder="198.51.100.7"
        value={filters.address}
        onChange={(address) => change({ address })}
      />
      <DateTimeFilter label="From" value={filters.from} onChange={(from) => change({ from })} />
      <DateTimeFilter label="Until" value={filters.until} onChange={(until) => change({ until })} />
    </FilterBar>
  );
}
