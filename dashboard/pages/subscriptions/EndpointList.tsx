import { Box, Stack, Text } from '@mantine/core';
import type { EndpointHealth } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { SubscriptionLabel } from '../../shared/deliveries/SubscriptionLabel.tsx';
import { HealthBadge } from '../../shared/endpoints/HealthBadge.tsx';
import { WaitingCount } from '../../shared/endpoints/WaitingCount.tsx';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { type Column, DataTable } from '../../shared/table/DataTable.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { NoValue } from '../../shared/text/NoValue.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { FailingEndpoints } from '../overview/FailingEndpoints.tsx';

const REFRESH_MS = 5_000;

/** For roles that cannot manage subscriptions. */
export function EndpointList() {
  const { environment } = useWorkspace();
  const { filters } = useFilters();
  const result = useList<EndpointHealth>(
    '/endpoint_health',
    { environment, after: filters.after },
    { refetchInterval: REFRESH_MS },
  );
  return (
    <>
      <PageHeader title="Subscriptions" guide="webhooks">
        Each subscription sends every event in {environment} to its endpoint. You need the Key Admin role to
        change them.
      </PageHeader>
      <Box mb="md">
        <FailingEndpoints />
      </Box>
      <Panel flush>
        <DataTable
          result={result}
          label="Subscriptions"
          keyOf={({ subscription_guid: guid }) => guid}
          columns={COLUMNS}
          empty={
            <EmptyState icon="webhook" title={`No subscriptions in ${environment} yet`}>
              Ask a Key Admin to create one.
            </EmptyState>
          }
        />
      </Panel>
    </>
  );
}

const COLUMNS: Column<EndpointHealth>[] = [
  {
    title: 'Name',
    cell: ({ subscription_guid: guid, host }) => (
      <Stack gap={0} miw={0}>
        <SubscriptionLabel guid={guid} />
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {host}
        </Text>
      </Stack>
    ),
  },
  { title: 'State', cell: (endpoint) => <HealthBadge {...endpoint} /> },
  { title: 'Waiting', cell: (endpoint) => <WaitingCount {...endpoint} /> },
  {
    title: 'Failing since',
    cell: ({ failing_since: since }) => (since ? <RelativeTime at={since} /> : <NoValue />),
  },
];
