import { Button, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useWorkspace } from '../../session/workspace.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
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
        Name, banks, environments, alerts and the steps to production.
      </PageHeader>
      <DetailsPanel />
      <GoingLivePanel />
      <BanksPanel />
      <EnvironmentsPanel />
      {can('members:write') ? <SecondFactorPanel /> : null}
      <Panel
        title="Alerts"
        hint="A Slack channel for all alerts, and the number of waiting deliveries that raises one"
        actions={
          <Button component={Link} to="/alerts/settings" variant="default" size="xs">
            Alert settings
          </Button>
        }
      />
    </Stack>
  );
}
