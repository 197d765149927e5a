import { Group, Skeleton, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorAlert } from '../feedback/ErrorAlert.tsx';
import { StaleAlert } from '../feedback/StaleAlert.tsx';
import styles from './DataTable.module.css';
import { DisplayMenu } from './DisplayMenu.tsx';
import { ExportMenu } from './ExportMenu.tsx';
import { Pager } from './Pager.tsx';
import type { ListResult } from './use-list.ts';

const SKELETON_ROWS = 5;

export type Column<Item> = {
  title: string;
  /** The title is only for screen readers. */
  titleHidden?: boolean;
  cell(item: Item): ReactNode;
  align?: 'right';
  width?: string | number;
  /** Left out where the table would not fit. The page or drawer of the row has to show it too. */
  secondary?: boolean;
};

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
      <div className={styles.scroll}>
        <Table
          className={styles.table}
          verticalSpacing={5}
          horizontalSpacing="sm"
          highlightOnHover
          aria-label={label}
          aria-busy={isPending}
          role="table"
          data-stale={result.isPlaceholderData || undefined}
        >
          <Table.Thead role="rowgroup">
            <Table.Tr role="row">
              {columns.map(({ title, titleHidden, align, width, secondary }) => (
                <Table.Th
                  key={title}
                  ta={align ?? 'left'}
                  w={width}
                  role="columnheader"
                  className={styles.head}
                  data-secondary={secondary}
                >
                  <span className={titleHidden ? styles.hidden : undefined}>{title}</span>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody role="rowgroup">
            {isPending ? (
              <SkeletonRows columns={columns} />
            ) : (
              data?.objects.map((item) => (
                <Table.Tr key={keyOf(item)} role="row">
                  {columns.map(({ title, titleHidden, cell, align, secondary }) => (
                    <Table.Td
                      key={title}
                      ta={align ?? 'left'}
                      role="cell"
                      data-label={titleHidden ? undefined : title}
                      data-secondary={secondary}
                    >
                      {cell(item)}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))
            )}
          </Table.Tbody>
        </Table>
      </div>
      {paged && data ? <Pager list={data} isTurning={result.isPlaceholderData} /> : null}
    </>
  );
}

/** "requests", but "API keys". */
function withoutCapital(label: string): string {
  return /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;
}

function SkeletonRows({ columns }: { columns: readonly Pick<Column<never>, 'title' | 'secondary'>[] }) {
  return Array.from({ length: SKELETON_ROWS }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: placeholder rows have no identity
    <Table.Tr key={row} role="row">
      {columns.map(({ title, secondary }, column) => (
        <Table.Td key={title} role="cell" data-secondary={secondary}>
          <Skeleton height={14} my={4} width={column === 0 ? '70%' : '50%'} />
        </Table.Td>
      ))}
    </Table.Tr>
  ));
}
