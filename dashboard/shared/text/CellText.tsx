import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './CellText.module.css';

/** A name on one line of a table, cut off where the table has no space for it. */
export function CellText({ title, children }: { title?: string | undefined; children: ReactNode }) {
  return (
    <Text component="div" size="sm" truncate className={styles.text} title={title}>
      {children}
    </Text>
  );
}
