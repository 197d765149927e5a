import { FilterBar } from '../../shared/filters/FilterBar.tsx';
import { GuidFilter } from '../../shared/filters/GuidFilter.tsx';
import { SelectFilter } from '../../shared/filters/SelectFilter.tsx';
import type { SearchName } from '../../shared/filters/search.ts';
import { TextFilter } from '../../shared/filters/TextFilter.tsx';
import { TimeFilter } from '../../shared/filters/TimeFilter.tsx';
import { TIME_FILTERS } from '../../shared/filters/time-range.ts';
import { useFilters } from '../../shared/filters/use-filters.ts';

export const REQUEST_FILTERS = [
  'request_id',
  'status',
  'method',
  'path',
  'message_code',
  'client_id',
  'address',
  ...TIME_FILTERS,
] as const satisfies SearchName[];

const STATUSES = [
  { value: '4xx,5xx', label: 'All errors' },
  { value: '2xx', label: '2xx Success' },
  { value: '4xx', label: '4xx Rejected' },
  { value: '5xx', label: '5xx Service error' },
];
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'];

export function RequestFilters() {
  const { filters, field } = useFilters();
  const { status } = filters;
  const isListed = status === undefined || STATUSES.some(({ value }) => value === status);
  return (
    <FilterBar names={REQUEST_FILTERS}>
      <GuidFilter label="Request ID" {...field('request_id')} />
      <SelectFilter
        label="Status"
        placeholder="Any status"
        data={isListed ? STATUSES : [...STATUSES, { value: status, label: status }]}
        {...field('status')}
      />
      <SelectFilter label="Method" placeholder="Any method" data={METHODS} {...field('method')} />
      <TextFilter label="Path" placeholder="/api/transfers/{guid}" {...field('path')} />
      <TextFilter label="Error code" placeholder="ip_not_allowed" {...field('message_code')} />
      <GuidFilter label="Client ID" {...field('client_id')} />
      <TextFilter label="Address" placeholder="198.51.100.7" {...field('address')} />
      <TimeFilter />
    </FilterBar>
  );
}
