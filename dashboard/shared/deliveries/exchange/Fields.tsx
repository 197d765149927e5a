import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './Fields.module.css';

/** Names with their values; those without a value are left out. `code` is for headers. */
export function Fields({
  title,
  code = false,
  fields,
}: {
  title?: string;
  code?: boolean;
  fields: Readonly<Record<string, ReactNode>>;
}) {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return (
    <div>
      {title === undefined ? null : (
        <Text size="xs" c="dimmed" fw={600} mb={4}>
          {title}
        </Text>
      )}
      <dl className={styles.fields} data-code={code || undefined}>
        {given.map(([name, value]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
      </dl>
    </div>
  );
}
