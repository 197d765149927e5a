import { Stack } from '@mantine/core';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { PasskeysPanel } from './PasskeysPanel.tsx';
import { PasswordPanel } from './PasswordPanel.tsx';
import { ProfilePanel } from './ProfilePanel.tsx';
import { SessionsPanel } from './SessionsPanel.tsx';
import { TotpPanel } from './TotpPanel.tsx';

/** One's own: the same in every Organization. */
export function AccountPage() {
  return (
    <Stack gap="lg" maw={760}>
      <PageHeader title="Account and security" spaced={false}>
        How you log in, and where you are logged in.
      </PageHeader>
      <ProfilePanel />
      <PasswordPanel />
      <TotpPanel />
      <PasskeysPanel />
      <SessionsPanel />
    </Stack>
  );
}
