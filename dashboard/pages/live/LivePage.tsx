import { Badge, Button, Group, Select, Text } from '@mantine/core';
import { useState } from 'react';
import { useWorkspace } from '../../session/workspace.ts';
import { DeliveryDrawer } from '../../shared/deliveries/DeliveryDrawer.tsx';
import { DELIVERY_STATES } from '../../shared/deliveries/delivery-labels.ts';
import { useSubscriptions } from '../../shared/deliveries/use-subscriptions.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { FilterBar } from '../../shared/filters/FilterBar.tsx';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { LiveTable } from './LiveTable.tsx';
import { type Connection, useLive } from './use-live.ts';

/** Attempts as they are made. */
export function LivePage() {
  const { api } = useWorkspace();
  const [paused, setPaused] = useState(false);
  const [opened, setOpened] = useState<string>();
  const { filters, change } = useFilters();
  const { rows, connection, dropped, refusal, clear } = useLive(api, {
    state: filters.state,
    subscription: filters.subscription,
    paused,
  });
  const subscriptions = useSubscriptions();
  // The stream sends no others; these came before the filter was set.
  const shown = rows.filter(
    (row) =>
      (filters.state === undefined || row.state === filters.state) &&
      (filters.subscription === undefined || row.subscription_guid === filters.subscription),
  );
  return (
    <>
      <PageHeader
        title="Live"
        actions={
          <>
            <Status connection={connection} paused={paused} />
            <Button variant="default" onClick={clear} disabled={rows.length === 0}>
              Clear
            </Button>
            <Button
              variant={paused ? 'filled' : 'default'}
              leftSection={<Icon name={paused ? 'play' : 'pause'} size={16} />}
              onClick={() => setPaused(!paused)}
            >
              {paused ? 'Resume' : 'Pause'}
            </Button>
          </>
        }
      >
        Every attempt at your endpoints, the moment it is made.
      </PageHeader>
      <FilterBar names={['state', 'subscription']}>
        <Select
          label="State"
          placeholder="Every state"
          clearable
          data={DELIVERY_STATES}
          value={filters.state ?? null}
          onChange={(state) => change({ state: state ?? undefined })}
        />
        {subscriptions.length > 0 ? (
          <Select
            label="Subscription"
            placeholder="Every subscription"
            clearable
            data={subscriptions.map(({ guid, name }) => ({ value: guid, label: name }))}
            value={filters.subscription ?? null}
            onChange={(subscription) => change({ subscription: subscription ?? undefined })}
          />
        ) : null}
      </FilterBar>
      {refusal ? <ErrorAlert error={refusal} /> : null}
      {dropped > 0 ? (
        <Text size="sm" c="dimmed" mb="sm" role="status">
          {dropped.toLocaleString('en')} more were too quick to show; they are all under Events.
        </Text>
      ) : null}
      <Panel flush>
        {shown.length > 0 ? (
          <LiveTable rows={shown} onOpen={setOpened} />
        ) : (
          <EmptyState icon="live" title={paused ? 'Paused' : 'Waiting for the next attempt'}>
            {paused
              ? 'What happens meanwhile is not shown here, but under Events.'
              : 'Leave this open while you try something: create an object in the sandbox, or send a test event.'}
          </EmptyState>
        )}
      </Panel>
      {opened ? <DeliveryDrawer guid={opened} onClose={() => setOpened(undefined)} /> : null}
    </>
  );
}

function Status({ connection, paused }: { connection: Connection; paused: boolean }) {
  const looks = {
    connecting: { color: 'gray', label: 'Connecting' },
    open: { color: 'teal', label: 'Live' },
    lost: { color: 'orange', label: 'Connecting again' },
    refused: { color: 'red', label: 'Not connected' },
    paused: { color: 'gray', label: 'Paused' },
  };
  const { color, label } = looks[paused ? 'paused' : connection];
  return (
    <Group role="status">
      <Badge color={color} variant="dot" size="lg" tt="none" radius="sm">
        {label}
      </Badge>
    </Group>
  );
}
