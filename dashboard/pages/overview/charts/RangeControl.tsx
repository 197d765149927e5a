import { SegmentedControl } from '@mantine/core';
import type { Range } from '../../../api/types.ts';
import { useFilters } from '../../../shared/filters/use-filters.ts';
import { RANGES, rangeOf } from './use-statistics.ts';

const LABELS: Record<Range, string> = { '1h': '1 h', '24h': '24 h', '7d': '7 days' };

export function RangeControl() {
  const { filters, change } = useFilters();
  return (
    <SegmentedControl
      size="xs"
      value={rangeOf(filters.range)}
      onChange={(range) => change({ range: range === '24h' ? undefined : range })}
      data={RANGES.map((value) => ({ value, label: LABELS[value] }))}
      aria-label="Period"
    />
  );
}
