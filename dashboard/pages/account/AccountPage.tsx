import { Stack } from '@mantine/core';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { PasskeysPanel } from './PasskeysPanel.tsx';
import { PasswordPanel } from './PasswordPanel.tsx';
import { ProfilePanel } from './ProfilePanel.tsx';
import { SessionsPanel } from './SessionsPanel.tsx';
import { TotpPanel } from './TotpPanel.tsx';

export function AccountPage() {
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
    </Stack>
  );
}
