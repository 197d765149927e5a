import { Skeleton, Table, type TableProps } from '@mantine/core';
import { memo, type ReactNode } from 'react';
import styles from './DataTable.module.css';

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

type Look = Pick<TableProps, 'verticalSpacing' | 'horizontalSpacing' | 'highlightOnHover'>;

/** The rows of a table by columns; on phones, cards. The roles are explicit because the cards are no tables in CSS. */
export function ColumnTable<Item>({
  columns,
  items,
  keyOf,
  label,
  isPending = false,
  isStale = false,
  ...look
}: {
  columns: readonly Column<Item>[];
  items: readonly Item[];
  keyOf(item: Item): string;
  label: string;
  isPending?: boolean;
  isStale?: boolean;
} & Look) {
  return (
    <div className={styles.scroll}>
      <Table
        {...look}
        className={styles.table}
        aria-label={label}
        aria-busy={isPending}
        role="table"
        data-stale={isStale || undefined}
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
            items.map((item) => <Row key={keyOf(item)} item={item} columns={columns} />)
          )}
        </Table.Tbody>
      </Table>
    </div>
  );
}

type RowProps<Item> = { item: Item; columns: readonly Column<Item>[] };

/** Renders again only with another item or other columns: a change of a filter renders the table three times. */
const Row = memo(<Item,>({ item, columns }: RowProps<Item>) => (
  <Table.Tr role="row">
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
)) as <Item>(props: RowProps<Item>) => ReactNode;

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
