import { Badge, Button, Group, Select, Text } from '@mantine/core';
import { useState } from 'react';
import { DeliveryDrawer } from '../../shared/DeliveryDrawer.tsx';
import { DELIVERY_STATES } from '../../shared/delivery-words.ts';
import { EmptyState } from '../../shared/EmptyState.tsx';
import { Failure } from '../../shared/Failure.tsx';
import { FilterBar } from '../../shared/FilterBar.tsx';
import { useFilters } from '../../shared/filters.ts';
import { Icon } from '../../shared/Icon.tsx';
import { PageHeader } from '../../shared/PageHeader.tsx';
import { Panel } from '../../shared/Panel.tsx';
import { useSubscriptions } from '../../shared/subscription-names.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';
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
      {refusal ? <Failure error={refusal} /> : null}
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
