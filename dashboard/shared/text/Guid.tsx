import { Group, Text } from '@mantine/core';
import { CopyButton } from './CopyButton.tsx';
import styles from './Guid.module.css';

const HEAD = 8;
const TAIL = 6;

/** Shows both ends, because guids created at about the same time differ only at the end, or with `full` everything. */
export function Guid({ value, name = 'ID', full = false }: { value: string; name?: string; full?: boolean }) {
  return (
    <Group gap={4} wrap="nowrap" className={styles.guid}>
      <Text span className={styles.text} title={full ? undefined : value} data-full={full || undefined}>
        {full ? value : `${value.slice(0, HEAD)}…${value.slice(-TAIL)}`}
      </Text>
      <CopyButton value={value} label={`Copy ${name}`} />
    </Group>
  );
}
