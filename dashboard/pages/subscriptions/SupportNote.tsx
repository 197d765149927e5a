import { Group, Text } from '@mantine/core';
import { useWorkspace } from '../../session/workspace.ts';
import { Icon } from '../../shared/text/Icon.tsx';
import { MailLink } from '../../shared/text/MailLink.tsx';

export function SupportNote({ children }: { children: string }) {
  const { session } = useWorkspace();
  return (
    <Group gap={6} wrap="nowrap">
      <Icon name="shield" size={16} />
      <Text size="sm" c="dimmed">
        {children} <MailLink to={session.support_email} />
      </Text>
    </Group>
  );
}
