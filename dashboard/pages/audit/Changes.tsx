import { Text } from '@mantine/core';

/** One line for each field that was set; the whole of it on hover. */
export function Changes({ changes }: { changes: Record<string, unknown> }) {
  const lines = Object.entries(changes).map(([name, value]) => `${name}: ${shown(value)}`);
  if (lines.length === 0)
    return (
      <Text size="sm" c="dimmed">
        –
      </Text>
    );
  return (
    <Text
      size="xs"
      lineClamp={3}
      maw={300}
      title={lines.join('\n')}
      style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-line' }}
    >
      {lines.join('\n')}
    </Text>
  );
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
