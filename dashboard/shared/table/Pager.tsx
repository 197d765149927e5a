import { Button, Group, Text } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import type { List } from '../../api/types.ts';
import { useFilters } from '../filters/use-filters.ts';
import { Icon } from '../text/Icon.tsx';

/** The API does not count beyond this. */
const MAX_TOTAL = 10_000;
/** Older entries are dropped; "Newest" remains. */
const MAX_TRAIL = 200;

/**
 * The API walks only towards older rows, so the cursors of newer pages are kept in the history entry: they survive a
 * reload, and a shared link has none.
 */
export function Pager({ list, isTurning }: { list: List<unknown>; isTurning: boolean }) {
  const { filters, change } = useFilters();
  const trail = useLocation({ select: ({ state }) => state.trail }) ?? [];
  const { total, next } = list;
  const { after } = filters;
  if (next === undefined && after === undefined) return null;
  const turn = (to: string | undefined, newTrail: readonly string[]) =>
    change({ after: to }, { addHistoryEntry: true, trail: newTrail });
  return (
    <Group justify="space-between" px="md" py="xs" component="nav" aria-label="Pages">
      <Text size="sm" c="dimmed">
        {total >= MAX_TOTAL ? 'More than 10,000' : total.toLocaleString('en')} total
      </Text>
      <Group gap="xs">
        {after === undefined ? null : (
          <Button variant="default" size="xs" onClick={() => turn(undefined, [])}>
            Newest
          </Button>
        )}
        <PageButtons
          isTurning={isTurning}
          isFirst={trail.length === 0}
          isLast={next === undefined}
          onNewer={() => turn(trail.at(-1) || undefined, trail.slice(0, -1))}
          onOlder={() => turn(next, [...trail, after ?? ''].slice(-MAX_TRAIL))}
        />
      </Group>
    </Group>
  );
}

export function PageButtons(props: {
  /** The next page loads, and the cursor is still the one to it. */
  isTurning: boolean;
  isFirst: boolean;
  isLast: boolean;
  onNewer: () => void;
  onOlder: () => void;
}) {
  return (
    <>
      <Button
        variant="default"
        size="xs"
        disabled={props.isFirst}
        onClick={props.onNewer}
        leftSection={<Icon name="left" size={14} />}
      >
        Newer
      </Button>
      <Button
        variant="default"
        size="xs"
        disabled={props.isLast}
        // Not `disabled`, which would lose the focus.
        {...(props.isTurning && { 'data-disabled': true, 'aria-disabled': true })}
        onClick={() => props.isTurning || props.onOlder()}
        rightSection={<Icon name="right" size={14} />}
      >
        Older
      </Button>
    </>
  );
}
