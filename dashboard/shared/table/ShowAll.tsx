import { Button } from '@mantine/core';
import type { SearchName } from '../filters/search.ts';
import { useFilters } from '../filters/use-filters.ts';
import { Icon } from '../text/Icon.tsx';

/** Leads from the only row that a link or the search opened to the whole list. */
export function ShowAll({ filter, label }: { filter: SearchName; label: string }) {
  const { filters, field } = useFilters();
  if (filters[filter] === undefined) return null;
  return (
    <Button
      variant="light"
      size="compact-sm"
      leftSection={<Icon name="left" size={14} />}
      onClick={() => field(filter).onChange(undefined)}
    >
      {label}
    </Button>
  );
}
