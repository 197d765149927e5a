import { Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { BreakableText } from '../text/BreakableText.tsx';
import { type GuideAddress, GuideLink } from '../text/GuideLink.tsx';

export function PageHeader({
  title,
  children,
  actions,
  guide,
  spaced = true,
}: {
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
  /** The guide that explains the page. */
  guide?: GuideAddress;
  /** Off on pages that set the spacing themselves. */
  spaced?: boolean;
}) {
  useEffect(() => {
    document.title = `${title} · Portico`;
  }, [title]);
  return (
    <Group justify="space-between" align="flex-start" mb={spaced ? 'lg' : 0} gap="md">
      <Stack gap={4} style={{ flex: '1 1 18rem', minWidth: 0 }}>
        <Title order={1} style={{ overflowWrap: 'anywhere' }}>
          <BreakableText text={title} />
        </Title>
        {children ? (
          <Text c="dimmed" size="sm" maw={640} component="div" style={{ overflowWrap: 'anywhere' }}>
            {children}
          </Text>
        ) : null}
      </Stack>
      {actions || guide ? (
        <Group gap="sm">
          {guide ? <GuideLink guide={guide} size="sm" fw={500} /> : null}
          {actions}
        </Group>
      ) : null}
    </Group>
  );
}
