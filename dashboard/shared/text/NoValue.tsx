import { Text } from '@mantine/core';

export function NoValue() {
  return (
    <Text size="sm" c="dimmed">
      –
    </Text>
  );
}
