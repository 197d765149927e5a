import { Group, SegmentedControl, Text } from '@mantine/core';
import { useState } from 'react';
import { CodeBlock } from '../../text/CodeBlock.tsx';

/** A body as it was sent, or indented if it is JSON. `raw` shows it as it was sent first. */
export function MessageBody({ text, label, raw = false }: { text: string; label: string; raw?: boolean }) {
  const [view, setView] = useState(raw ? 'raw' : 'pretty');
  const pretty = prettyOf(text);
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text size="xs" c="dimmed" fw={600}>
          Body
        </Text>
        {pretty === undefined ? null : (
          <SegmentedControl
            size="xs"
            value={view}
            onChange={setView}
            data={[
              { value: 'pretty', label: 'Pretty' },
              { value: 'raw', label: 'Raw' },
            ]}
            aria-label={`Format of the ${label}`}
          />
        )}
      </Group>
      <CodeBlock label={label} code={view === 'pretty' ? (pretty ?? text) : text} />
    </div>
  );
}

function prettyOf(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? JSON.stringify(value, undefined, 2) : undefined;
  } catch {
    return undefined;
  }
}
