import { Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorAlert } from '../feedback/ErrorAlert.tsx';
import { StaleAlert } from '../feedback/StaleAlert.tsx';
import { type Column, ColumnTable } from './ColumnTable.tsx';
import styles from './DataTable.module.css';
import { DisplayMenu } from './DisplayMenu.tsx';
import { ExportMenu } from './ExportMenu.tsx';
import { Pager } from './Pager.tsx';
import type { ListResult } from './use-list.ts';

export type { Column } from './ColumnTable.tsx';

/** Renders a list with its loading, empty, failed and stale states. */
export function DataTable<Item>({
  result,
  columns,
  keyOf,
  label,
  empty,
  paged = true,
  csvPath,
  toolbar,
}: {
  result: ListResult<Item>;
  columns: readonly Column<Item>[];
  keyOf(item: Item): string;
  label: string;
  empty: ReactNode;
  paged?: boolean;
  /** An API route with the CSV of this list. */
  csvPath?: string;
  /** Actions on the rows, left of those of every table. */
  toolbar?: ReactNode;
}) {
  const { data, error, isPending, refetch, source } = result;
  if (error && !data)
    return (
      <div className={styles.inset}>
        <ErrorAlert
          error={error}
          title={`Could not load ${withoutCapital(label)}`}
          onRetry={() => void refetch()}
        />
      </div>
    );
  if (data?.objects.length === 0)
    return (
      <>
        {empty}
        {paged ? <Pager list={data} isTurning={result.isPlaceholderData} /> : null}
      </>
    );
  return (
    <>
      {error ? <StaleAlert radius={0} /> : null}
      {paged ? (
        <Group gap={4} className={styles.toolbar}>
          <Group gap="xs" flex={1}>
            {toolbar}
          </Group>
          {source ? <ExportMenu source={source} label={label} csvPath={csvPath} /> : null}
          <DisplayMenu />
        </Group>
      ) : null}
      <ColumnTable
        columns={columns}
        items={data?.objects ?? []}
        keyOf={keyOf}
        label={label}
        isPending={isPending}
        isStale={result.isPlaceholderData}
        verticalSpacing={5}
        horizontalSpacing="sm"
        highlightOnHover
      />
      {paged && data ? <Pager list={data} isTurning={result.isPlaceholderData} /> : null}
    </>
  );
}

/** "requests", but "API keys". */
function withoutCapital(label: string): string {
  return /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;
}
