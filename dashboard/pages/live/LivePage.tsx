import { Badge, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useWorkspace } from '../../session/workspace.ts';
import { DeliveryDrawer } from '../../shared/deliveries/DeliveryDrawer.tsx';
import { hasLabelOf, queryOfState } from '../../shared/deliveries/delivery-labels.ts';
import { DeliveryStateFilter } from '../../shared/deliveries/filters/DeliveryStateFilter.tsx';
import { SubscriptionFilter } from '../../shared/deliveries/filters/SubscriptionFilter.tsx';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { FilterBar } from '../../shared/filters/FilterBar.tsx';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { LiveTable } from './LiveTable.tsx';
import { type Connection, useLive } from './use-live.ts';

export function LivePage() {
  const { api, environment } = useWorkspace();
  const [paused, setPaused] = useState(false);
  const [opened, setOpened] = useState<string>();
  const { filters, change } = useFilters();
  const { rows, connection, dropped, error, clear } = useLive(api, {
    state: queryOfState(filters.state).state?.toString(),
    subscription: filters.subscription,
    paused,
  });
  // Rows received before a filter was set may not match it.
  const visible = rows.filter(
    (row) =>
      hasLabelOf(row, filters.state) &&
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
              Clear rows
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
        Delivery attempts in {environment}, as they happen.
      </PageHeader>
      <FilterBar names={['state', 'subscription']}>
        <DeliveryStateFilter value={filters.state} onChange={(state) => change({ state })} />
        <SubscriptionFilter />
      </FilterBar>
      {error ? <ErrorAlert error={error} /> : null}
      {dropped > 0 ? (
        <Text size="sm" c="dimmed" mb="sm" role="status">
          {dropped.toLocaleString('en')} attempts were skipped because of high traffic. Open an event to see
          all of its attempts.
        </Text>
      ) : null}
      <Panel flush>
        {visible.length > 0 ? (
          <LiveTable rows={visible} onOpen={setOpened} />
        ) : (
          <EmptyState icon="live" title={paused ? 'Paused' : 'Waiting for attempts'}>
            {paused
              ? 'New attempts are not visible. Events lists everything.'
              : 'Send a test event or create a sandbox object to see an attempt.'}
          </EmptyState>
        )}
      </Panel>
      {opened ? <DeliveryDrawer guid={opened} onClose={() => setOpened(undefined)} /> : null}
    </>
  );
}

function Status({ connection, paused }: { connection: Connection; paused: boolean }) {
  const styles = {
    connecting: { color: 'gray', label: 'Connecting' },
    open: { color: 'teal', label: 'Live' },
    lost: { color: 'orange', label: 'Reconnecting' },
    rejected: { color: 'red', label: 'Not connected' },
    paused: { color: 'gray', label: 'Paused' },
  };
  const { color, label } = styles[paused ? 'paused' : connection];
  return (
    <Group role="status">
      <Badge color={color} variant="dot" size="lg" tt="none" radius="sm">
        {label}
      </Badge>
    </Group>
  );
}
