import { Box, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { type Column, DataTable } from '../../shared/table/DataTable.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { Icon } from '../../shared/text/Icon.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { FailingEndpoints } from '../overview/FailingEndpoints.tsx';
import { CreateSubscription } from './CreateSubscription.tsx';
import { EndpointList } from './EndpointList.tsx';
import { RollBadge } from './roll/RollBadge.tsx';
import { RollMenu } from './roll/RollMenu.tsx';
import { SubscriptionBadge, WaitingOf } from './status/SubscriptionBadge.tsx';
import { SubscriptionHealth } from './status/SubscriptionHealth.tsx';
import { useEndpointLimit } from './use-endpoint-limit.ts';

const REFRESH_MS = 5_000;

export function SubscriptionsPage() {
  const { can } = useWorkspace();
  return can('subscriptions:read') ? <ManagedSubscriptions /> : <EndpointList />;
}

function ManagedSubscriptions() {
  const { can, environment } = useWorkspace();
  const { filters } = useFilters();
  const [creating, setCreating] = useState(false);
  const result = useList<Subscription>(
    '/subscriptions',
    { environment, after: filters.after },
    { refetchInterval: REFRESH_MS },
  );
  const limit = useEndpointLimit();
  const mayCreate = can('subscriptions:write') && limit === undefined;
  return (
    <>
      <PageHeader
        title="Subscriptions"
        guide="webhooks"
        actions={
          mayCreate ? (
            <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
              Create Webhook Subscription
            </Button>
          ) : undefined
        }
      >
        Each subscription sends every event in {environment} to its endpoint as a signed POST request.
        {limit ? ` ${limit.message}` : null}
      </PageHeader>
      <Box mb="md">
        <FailingEndpoints />
      </Box>
      <Panel flush>
        <DataTable
          result={result}
          label="Subscriptions"
          keyOf={({ guid }) => guid}
          columns={COLUMNS}
          empty={
            <EmptyState
              icon="webhook"
              title={`No subscriptions in ${environment} yet`}
              action={
                mayCreate ? (
                  <Button onClick={() => setCreating(true)}>Create Webhook Subscription</Button>
                ) : null
              }
            >
              Create one to receive events at your endpoint. Failed deliveries are retried for 7 days.
            </EmptyState>
          }
        />
      </Panel>
      {creating ? <CreateSubscription onClose={() => setCreating(false)} /> : null}
    </>
  );
}

const COLUMNS: Column<Subscription>[] = [
  {
    title: 'Name',
    cell: (subscription) => (
      <Stack gap={0} miw={0} maw={380}>
        <Group gap={6} wrap="nowrap">
          <PageLink
            to="/subscriptions/$guid"
            params={{ guid: subscription.guid }}
            size="sm"
            fw={600}
            style={{ overflowWrap: 'anywhere' }}
          >
            {subscription.name}
          </PageLink>
          {subscription.protection_enabled ? <Icon name="shield" size={14} /> : null}
        </Group>
        <Text
          size="xs"
          c="dimmed"
          lineClamp={2}
          title={subscription.url}
          style={{ overflowWrap: 'anywhere' }}
        >
          {subscription.url}
        </Text>
        <RollBadge subscription={subscription} />
      </Stack>
    ),
  },
  { title: 'State', cell: (subscription) => <SubscriptionBadge subscription={subscription} /> },
  { title: 'Health', cell: (subscription) => <SubscriptionHealth subscription={subscription} /> },
  { title: 'Waiting', cell: ({ guid }) => <WaitingOf guid={guid} /> },
  { title: 'Created', cell: ({ created_at: at }) => <RelativeTime at={at} /> },
  {
    title: 'Actions',
    titleHidden: true,
    align: 'right',
    cell: (subscription) => <RollMenu subscription={subscription} />,
  },
];
