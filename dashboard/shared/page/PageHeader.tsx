import { Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

export function PageHeader({
  title,
  children,
  actions,
  spaced = true,
}: {
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
  /** Off on pages that set the spacing themselves. */
  spaced?: boolean;
}) {
  useEffect(() => {
    document.title = `${title} · Portico`;
  }, [title]);
  return (
    <Group justify="space-between" align="flex-start" mb={spaced ? 'lg' : 0} gap="md">
      <Stack gap={4} style={{ flex: '1 1 18rem', minWidth: 0 }}>
        <Title order={1}>{title}</Title>
        {children ? (
          <Text c="dimmed" size="sm" maw={640} component="div">
            {children}
          </Text>
        ) : null}
      </Stack>
      {actions ? <Group gap="xs">{actions}</Group> : null}
    </Group>
  );
}
