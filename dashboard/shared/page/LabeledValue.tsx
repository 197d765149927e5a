import { Box, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export function LabeledValue({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Box fz="sm">
      <Text size="xs" c="dimmed" fw={600} mb={4}>
        {label}
      </Text>
      {children}
    </Box>
  );
}
