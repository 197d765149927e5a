import { Button, Group, Text } from '@mantine/core';
import type { List } from '../../api/types.ts';
import { useFilters } from '../filters/use-filters.ts';
import { Icon } from '../text/Icon.tsx';

/** Where the service stops counting. */
const COUNTED_UP_TO = 10_000;

/** By keyset: onward and back to the newest; the browser's own button goes back one page. */
export function Pager({ list }: { list: List<unknown> }) {
  const { filters, change } = useFilters();
  const { total, next } = list;
  if (next === undefined && filters.after === undefined) return null;
  return (
    <Group justify="space-between" px="lg" py="sm" component="nav" aria-label="Pages">
      <Text size="sm" c="dimmed">
        {total >= COUNTED_UP_TO ? 'More than 10,000' : total.toLocaleString('en')} in all
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
          onClick={() => change({ after: next }, { retainOrganizationAndBank: false })}
          rightSection={<Icon name="right" size={14} />}
        >
          Older
        </Button>
      </Group>
    </Group>
  );
}
