import { Button, Group, Text } from '@mantine/core';
import type { List } from '../../api/types.ts';
import { useFilters } from '../filters/use-filters.ts';
import { Icon } from '../text/Icon.tsx';

/** The API does not count beyond this. */
const MAX_TOTAL = 10_000;

/** Keyset pagination has no previous page: the browser's back button serves for that. */
export function Pager({ list }: { list: List<unknown> }) {
  const { filters, change } = useFilters();
  const { total, next } = list;
  if (next === undefined && filters.after === undefined) return null;
  return (
    <Group justify="space-between" px="lg" py="sm" component="nav" aria-label="Pages">
      <Text size="sm" c="dimmed">
        {total >= MAX_TOTAL ? 'More than 10,000' : total.toLocaleString('en')} total
      </Text>
      <Group gap="xs">
        {filters.after === undefined ? null : (
          <Button variant="default" size="xs" onClick={() => change({ after: undefined })}>
            Newest
          </Button>
        )}
        <Button
          variant="default"
          size="xs"
          disabled={next === undefined}
          onClick={() => change({ after: next }, { addHistoryEntry: true })}
          rightSection={<Icon name="right" size={14} />}
        >
          Older
        </Button>
      </Group>
    </Group>
  );
}
