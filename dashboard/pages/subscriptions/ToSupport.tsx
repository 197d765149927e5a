import { Group, Text } from '@mantine/core';
import { Icon } from '../../shared/Icon.tsx';
import { MailLink } from '../../shared/MailLink.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';

/** What only the operator changes: the sentence ends with where to write to. */
export function ToSupport({ children }: { children: string }) {
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
