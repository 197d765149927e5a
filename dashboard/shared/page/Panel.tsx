import { Group, Paper, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './Panel.module.css';

/** `flush` removes the padding, for tables. */
export function Panel({
  id,
  title,
  hint,
  actions,
  flush = false,
  children,
}: {
  /** The fragment of a link to the panel. */
  id?: string;
  title?: string;
  hint?: ReactNode;
  actions?: ReactNode;
  flush?: boolean;
  /** Without it the panel is its title and actions. */
  children?: ReactNode;
}) {
  return (
    <Paper component="section" id={id} className={styles.panel} radius="lg" aria-label={title}>
      {title ? (
        <Group justify="space-between" gap="xs" className={styles.head} data-flush={flush || undefined}>
          <div>
            <Title order={2} fz="h3">
              {title}
            </Title>
            {hint ? (
              <Text size="sm" c="dimmed" component="div" mt={2}>
                {hint}
              </Text>
            ) : null}
          </div>
          {actions}
        </Group>
      ) : null}
      {children ? <div className={flush ? styles.flush : styles.body}>{children}</div> : null}
    </Paper>
  );
}
