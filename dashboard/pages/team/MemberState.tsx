import { Stack, Text } from '@mantine/core';
import type { Member } from '../../api/types.ts';
import { StateBadge } from '../../shared/text/StateBadge.tsx';
import { useNow } from '../../shared/time/NowProvider.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';

export function MemberState({ member }: { member: Member }) {
  const now = useNow();
  const { state, invitation_expires_at: expiresAt } = member;
  if (state === 'active') return <StateBadge state="active" label="Active" />;
  if (expiresAt === undefined || Date.parse(expiresAt) <= now)
    return <StateBadge state="expired" label="Invitation expired" />;
  return (
    <Stack gap={0} align="flex-start">
      <StateBadge state="invited" label="Invited" />
      <Text size="xs" c="dimmed">
        expires <RelativeTime at={expiresAt} isFuture />
      </Text>
    </Stack>
  );
}
