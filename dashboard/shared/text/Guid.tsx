import { Group, Text } from '@mantine/core';
import { CopyButton } from './CopyButton.tsx';
import styles from './Guid.module.css';

const HEAD = 8;
const TAIL = 6;

/** Both ends of it, the whole of it to the clipboard. Guids of one minute differ at the end. */
export function Guid({
  value,
  name = 'guid',
  whole = false,
}: {
  value: string;
  name?: string;
  whole?: boolean;
}) {
  const shown = whole ? value : `${value.slice(0, HEAD)}…${value.slice(-TAIL)}`;
  return (
    <Group gap={4} wrap="nowrap" className={styles.guid}>
      <Text span className={styles.text} title={value} data-whole={whole || undefined}>
        {shown}
      </Text>
      <CopyButton value={value} label={`Copy ${name}`} />
    </Group>
  );
}
