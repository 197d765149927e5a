import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './FilterBar.module.css';
import type { SearchName } from './search.ts';
import { useFilters } from './use-filters.ts';

export function FilterBar({ names, children }: { names: readonly SearchName[]; children: ReactNode }) {
  const { filters, change } = useFilters();
  const isSet = names.some((name) => filters[name] !== undefined);
  return (
    <search className={styles.bar}>
      {children}
      {isSet ? (
        <Button
          variant="subtle"
          size="sm"
          onClick={() => change(Object.fromEntries(names.map((name) => [name, undefined])))}
        >
          Clear filters
        </Button>
      ) : null}
    </search>
  );
}
