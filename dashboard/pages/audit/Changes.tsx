import { Text } from '@mantine/core';
import { NoValue } from '../../shared/text/NoValue.tsx';

export function Changes({ changes }: { changes: Record<string, unknown> }) {
  const lines = Object.entries(changes).map(([name, value]) => `${name}: ${formatValue(value)}`);
  if (lines.length === 0) return <NoValue />;
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

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
