import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useId } from 'react';
import { Icon } from '../text/Icon.tsx';
import styles from './FilterBar.module.css';
import { SavedFilters } from './SavedFilters.tsx';
import type { Search, SearchName } from './search.ts';
import { TIME_FILTERS } from './time-range.ts';
import { useFilters } from './use-filters.ts';

/** On a phone the filters are behind a button, which says how many are set. */
export function FilterBar({
  names,
  beside = [],
  list,
  children,
}: {
  names: readonly SearchName[];
  /** Shown outside of the bar, but saved with its filters. */
  beside?: readonly SearchName[];
  /** The name under which filters are saved; the path of the page by default. */
  list?: string;
  children: ReactNode;
}) {
  const { filters, change } = useFilters();
  const [isOpen, { toggle }] = useDisclosure();
  const id = useId();
  const count = countOf(names, filters);
  const saved = [...beside, ...names];
  return (
    <>
      <Button
        className={styles.toggle}
        variant="default"
        size="sm"
        leftSection={<Icon name="filter" size={16} />}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={toggle}
      >
        {count === 0 ? 'Filters' : `Filters (${count})`}
      </Button>
      <search id={id} className={styles.bar} data-open={isOpen || undefined}>
        {children}
        {saved.length > 0 ? (
          <SavedFilters names={saved} list={list} isSet={countOf(saved, filters) > 0} />
        ) : null}
        {count > 0 ? (
          <Button
            variant="subtle"
            size="sm"
            style={{ justifySelf: 'start' }}
            onClick={() => change(Object.fromEntries(names.map((name) => [name, undefined])))}
          >
            Clear filters
          </Button>
        ) : null}
      </search>
    </>
  );
}

/** A time range is one filter, though it has several names. */
function countOf(names: readonly SearchName[], filters: Search): number {
  const isTime = (name: SearchName) => TIME_FILTERS.some((each) => each === name);
  const set = names.filter((name) => filters[name] !== undefined);
  return set.filter((name) => !isTime(name)).length + (set.some(isTime) ? 1 : 0);
}
