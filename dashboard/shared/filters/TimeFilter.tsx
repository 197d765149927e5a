import { Select } from '@mantine/core';
import { DateTimeFilter } from './DateTimeFilter.tsx';
import { presetOf, startOf } from './time-range.ts';
import { useFilters } from './use-filters.ts';

const OPTIONS = [
  { value: 'any', label: 'Any time' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: 'custom', label: 'Custom' },
];

/** A preset, or a beginning and an end of the user's own; `timeRangeOf` reads both. */
export function TimeFilter({ label = 'Time' }: { label?: string }) {
  const { filters, change } = useFilters();
  const preset = presetOf(filters);
  const isCustom =
    !preset && (filters.time === 'custom' || filters.from !== undefined || filters.until !== undefined);

  function choose(value: string | null) {
    if (value !== 'custom')
      change({ time: value === 'any' ? undefined : (value ?? undefined), from: undefined, until: undefined });
    else change({ time: 'custom', from: preset ? startOf(preset, Date.now()) : filters.from });
  }

  return (
    <>
      <Select
        label={label}
        allowDeselect={false}
        data={OPTIONS}
        value={preset ?? (isCustom ? 'custom' : 'any')}
        onChange={choose}
      />
      {isCustom ? (
        <>
          <DateTimeFilter
            label="From"
            value={filters.from}
            onChange={(from) => change({ time: 'custom', from })}
          />
          <DateTimeFilter
            label="Until"
            value={filters.until}
            onChange={(until) => change({ time: 'custom', until })}
          />
        </>
      ) : null}
    </>
  );
}
