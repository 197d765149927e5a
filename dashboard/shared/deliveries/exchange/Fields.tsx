import { Text } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import styles from './Fields.module.css';

/** Names with their values; those without a value are left out. `code` is for headers. */
export function Fields({
  title,
  code = false,
  fields,
}: {
  title?: string;
  code?: boolean;
  /** A list may have a name several times. */
  fields: Readonly<Record<string, ReactNode>> | readonly (readonly [name: string, value: ReactNode])[];
}) {
  const entries = Array.isArray(fields) ? fields : Object.entries(fields);
  const given = entries.filter(([, value]) => value !== undefined);
  return (
    <div>
      {title === undefined ? null : (
        <Text size="xs" c="dimmed" fw={600} mb={4}>
          {title}
        </Text>
      )}
      <dl className={styles.fields} data-code={code || undefined}>
        {given.map(([name, value], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a name is not unique, and the list does not change.
          <Fragment key={index}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
    </div>
  );
}
