import { Stack } from '@mantine/core';
import { useWorkspace } from '../../session/workspace.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { SlackPanel } from './SlackPanel.tsx';
import { WaitingPanel } from './WaitingPanel.tsx';

export function AlertSettingsPage() {
  const { can } = useWorkspace();
  return (
    <Stack gap="lg" maw={760}>
      <PageLink to="/alerts" size="sm">
        ← Alerts
      </PageLink>
      <PageHeader title="Alert settings" guide="alerts" spaced={false}>
        For the whole Organization. Choose your own emails in{' '}
        <PageLink to="/account" inherit underline="always">
          your account
        </PageLink>
        .{can('organizations:write') ? null : ' You need the Key Admin or Founder role to change them.'}
      </PageHeader>
      <WaitingPanel />
      <SlackPanel />
    </Stack>
  );
}
