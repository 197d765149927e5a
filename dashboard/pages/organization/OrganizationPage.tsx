import { Stack } from '@mantine/core';
import { useWorkspace } from '../../session/workspace.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { BanksPanel } from './BanksPanel.tsx';
import { DetailsPanel } from './DetailsPanel.tsx';
import { EnvironmentsPanel } from './EnvironmentsPanel.tsx';
import { GoingLivePanel } from './GoingLivePanel.tsx';
import { SecondFactorPanel } from './SecondFactorPanel.tsx';

export function OrganizationPage() {
  const { can } = useWorkspace();
  return (
    <Stack gap="lg">
      <PageHeader title="Organization" spaced={false}>
        Name, banks, environments and the steps to production.
      </PageHeader>
      <DetailsPanel />
      <GoingLivePanel />
      <BanksPanel />
      <EnvironmentsPanel />
      {can('members:write') ? <SecondFactorPanel /> : null}
    </Stack>
  );
}
