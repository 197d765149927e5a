import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { COUNTED_STATES, MAX_SUBSCRIPTIONS } from '../../../server/subscriptions/state.ts';
import { createApi } from '../../api/client.ts';
import type { List, Subscription } from '../../api/types.ts';
import { useServices } from '../../app/services.tsx';
import { type Column, DataTable } from '../../shared/DataTable.tsx';
import { EmptyState } from '../../shared/EmptyState.tsx';
import { useFilters } from '../../shared/filters.ts';
import { Icon } from '../../shared/Icon.tsx';
import { useList } from '../../shared/lists.ts';
import { Moment } from '../../shared/Moment.tsx';
import { PageHeader } from '../../shared/PageHeader.tsx';
import { PageLink } from '../../shared/PageLink.tsx';
import { Panel } from '../../shared/Panel.tsx';
import { StateBadge } from '../../shared/StateBadge.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { CreateSubscription } from './CreateSubscription.tsx';
import { Trouble } from './Trouble.tsx';

const REFRESH_MS = 5_000;

/** Developers → Subscriptions: the endpoints of this environment, what they are at, and what threatens them. */
export function SubscriptionsPage() {
  const { can, environment } = useWorkspace();
  const { filters } = useFilters();
  const [creating, setCreating] = useState(false);
  const allowed = can('subscriptions:read');
  const result = useList<Subscription>(
    '/subscriptions',
    { environment, after: filters.after },
    { refetchInterval: REFRESH_MS, enabled: allowed },
  );
  const isFull = useIsFull(allowed);
  const mayCreate = can('subscriptions:write') && !isFull;
  if (!allowed)
    return (
      <EmptyState icon="shield" title="Subscriptions are not for your role">
        Founders and Key Admins see and manage them. Their deliveries are under Events.
      </EmptyState>
    );
  return (
    <>
      <PageHeader
        title="Subscriptions"
        actions={
          mayCreate ? (
            <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
              Create Webhook Subscription
            </Button>
          ) : undefined
        }
      >
        Endpoints that receive every event of the {environment} banks, as signed POSTs.
        {isFull
          ? ` An Organization has at most ${MAX_SUBSCRIPTIONS}, over both environments; delete one to create another.`
          : null}
      </PageHeader>
      <FailingNote subscriptions={result.data?.objects ?? []} />
      <Panel flush>
        <DataTable
          result={result}
          label="Subscriptions"
          keyOf={({ guid }) => guid}
          columns={COLUMNS}
          empty={
            <EmptyState
              icon="webhook"
              title={`Nothing listens in ${environment} yet`}
              action={
                mayCreate ? <Button onClick={() => setCreating(true)}>Create the first one</Button> : null
              }
            >
              Name an address of yours, and every event is posted to it, signed and repeated until it answers.
            </EmptyState>
          }
        />
      </Panel>
      {creating ? <CreateSubscription onClose={() => setCreating(false)} /> : null}
    </>
  );
}

/** Whether the server would refuse another one; as long as that is not known, it would not. */
function useIsFull(enabled: boolean): boolean {
  const { tokens } = useServices();
  const { api, organization, session } = useWorkspace();
  const { data: count = 0 } = useQuery({
    queryKey: [api.key, '/subscriptions', 'counted'],
    queryFn: async ({ signal }) => {
      const query = { state: COUNTED_STATES.join(','), per_page: MAX_SUBSCRIPTIONS };
      // A token is for one environment, the limit is for both.
      const lists = session.environments.map((environment) =>
        createApi(tokens, { organizationGuid: organization.guid, environment }).get<List<Subscription>>(
          '/subscriptions',
          { query: { ...query, environment }, signal },
        ),
      );
      return (await Promise.all(lists)).reduce((sum, { objects }) => sum + objects.length, 0);
    },
    refetchInterval: REFRESH_MS,
    enabled,
  });
  return count >= MAX_SUBSCRIPTIONS;
}

function FailingNote({ subscriptions }: { subscriptions: readonly Subscription[] }) {
  const failing = subscriptions.filter(
    ({ deliveries_failing_since: since, state }) => since !== undefined && state !== 'failed',
  );
  if (failing.length === 0) return null;
  return (
    <Alert
      color="orange"
      variant="light"
      mb="md"
      icon={<Icon name="warning" />}
      title={
        failing.length === 1 ? 'An endpoint does not answer' : `${failing.length} endpoints do not answer`
      }
    >
      Deliveries are repeated for seven days from the first failure; after that the subscription fails for
      good.
    </Alert>
  );
}

const COLUMNS: Column<Subscription>[] = [
  {
    title: 'Name',
    cell: ({ guid, name, url, protection_enabled: isProtected }) => (
      <Stack gap={0} miw={0} maw={380}>
        <Group gap={6} wrap="nowrap">
          <PageLink
            to="/subscriptions/$guid"
            params={{ guid }}
            size="sm"
            fw={600}
            style={{ overflowWrap: 'anywhere' }}
          >
            {name}
          </PageLink>
          {isProtected ? <Icon name="shield" size={14} /> : null}
        </Group>
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {url}
        </Text>
      </Stack>
    ),
  },
  { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  { title: 'Attention', cell: (subscription) => <Trouble subscription={subscription} /> },
  { title: 'Created', cell: ({ created_at: at }) => <Moment at={at} /> },
];
