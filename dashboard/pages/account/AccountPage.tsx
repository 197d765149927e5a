import { Stack } from '@mantine/core';
import { useWorkspace } from '../../session/workspace.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { AlertEmailsPanel } from './AlertEmailsPanel.tsx';
import { PasskeysPanel } from './PasskeysPanel.tsx';
import { PasswordPanel } from './PasswordPanel.tsx';
import { ProfilePanel } from './ProfilePanel.tsx';
import { SessionsPanel } from './SessionsPanel.tsx';
import { TotpPanel } from './TotpPanel.tsx';

export function AccountPage() {
  const { isLocked } = useWorkspace();
  return (
    <Stack gap="lg" maw={760}>
      <PageHeader title="Account and security" spaced={false}>
        Your profile, login methods and sessions, for all Organizations.
      </PageHeader>
      <ProfilePanel />
      <PasswordPanel />
      <TotpPanel />
      <PasskeysPanel />
      <SessionsPanel />
      {isLocked ? null : <AlertEmailsPanel />}
    </Stack>
  );
}
