import { Badge, Group, Text } from '@mantine/core';
import type { LoggedRequest } from '../../api/types.ts';
import { BreakableText } from '../../shared/text/BreakableText.tsx';

/** The status, and the message_code of an error. */
export function StatusBadge({ request: { status, message_code: code } }: { request: LoggedRequest }) {
  return (
    <Group gap={6} wrap="nowrap">
      <Badge variant="light" color={colorOf(status)} radius="sm" fw={600} miw="max-content">
        {status}
      </Badge>
      {code === undefined ? null : (
        <Text size="sm" ff="monospace" fz={13}>
          <BreakableText text={code} />
        </Text>
      )}
    </Group>
  );
}

function colorOf(status: number): string {
  if (status >= 500) return 'red';
  if (status >= 400) return 'orange';
  return status >= 300 ? 'gray' : 'teal';
}
