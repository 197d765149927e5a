import { Group, Text } from '@mantine/core';
import { CopyButton } from './CopyButton.tsx';
import styles from './Guid.module.css';

const HEAD = 8;
const TAIL = 6;

/** Shows both ends: guids created at about the same time differ only at the end. */
export function Guid({ value, name = 'ID' }: { value: string; name?: string }) {
  return (
    <Group gap={4} wrap="nowrap" className={styles.guid}>
      <Text span className={styles.text} title={value}>
        {value.slice(0, HEAD)}…{value.slice(-TAIL)}
      </Text>
      <CopyButton value={value} label={`Copy ${name}`} />
    </Group>
  );
}
