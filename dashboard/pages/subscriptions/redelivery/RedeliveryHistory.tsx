import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Recovery } from '../../../api/types.ts';
import { EmptyState } from '../../../shared/feedback/EmptyState.tsx';
import { useFilters } from '../../../shared/filters/use-filters.ts';
import { Panel } from '../../../shared/page/Panel.tsx';
import { type Column, DataTable } from '../../../shared/table/DataTable.tsx';
import { PageButtons } from '../../../shared/table/Pager.tsx';
import { useList } from '../../../shared/table/use-list.ts';
import { CancelRedelivery } from './CancelRedelivery.tsx';
import { formatPeriod } from './format-period.ts';
import { KIND_LABELS } from './kinds.ts';
import { RedeliveryBadge } from './RedeliveryBadge.tsx';
import { RedeliveryBar } from './RedeliveryBar.tsx';
import { StartedBy } from './StartedBy.tsx';

const PER_PAGE = 5;
const REFRESH_MS = 5_000;
const REFRESH_RUNNING_MS = 1_000;

/**
 * The redelivery jobs of a subscription, or the one in the address. Its pages are not in the address, which the
 * deliveries below use.
 */
export function RedeliveryHistory({ subscriptionGuid }: { subscriptionGuid: string }) {
  const [passed, setPassed] = useState<readonly string[]>([]);
  const { filters, change } = useFilters();
  const result = useList<Recovery>(
    '/subscription_recoveries',
    {
      ...{ subscription_guid: subscriptionGuid, guid: filters.redelivery },
      ...{ per_page: PER_PAGE, after: passed.at(-1) },
    },
    {
      refetchInterval: (list) =>
        list?.objects.some(({ state }) => state === 'running') ? REFRESH_RUNNING_MS : REFRESH_MS,
    },
  );
  const { next } = result.data ?? {};
  const isEmpty = result.isPending || result.data?.objects.length === 0;
  if (isEmpty && passed.length === 0 && !filters.redelivery) return null;
  return (
    <Panel
      id="redeliveries"
      title="Redeliveries"
      flush
      actions={
        filters.redelivery ? (
          <Button variant="default" size="xs" onClick={() => change({ redelivery: undefined })}>
            Show all
          </Button>
        ) : undefined
      }
    >
      <DataTable
        result={result}
        label="Redeliveries"
        keyOf={({ guid }) => guid}
        columns={COLUMNS}
        empty={
          <EmptyState icon="refresh" title="No such redelivery">
            Redeliveries are kept for 30 days by default.
          </EmptyState>
        }
        paged={false}
      />
      {next === undefined && passed.length === 0 ? null : (
        <Group justify="flex-end" gap="xs" px="lg" py="sm" component="nav" aria-label="Pages of redeliveries">
          <PageButtons
            isTurning={result.isPlaceholderData}
            isFirst={passed.length === 0}
            isLast={next === undefined}
            onNewer={() => setPassed(passed.slice(0, -1))}
            onOlder={() => next && setPassed([...passed, next])}
          />
        </Group>
      )}
    </Panel>
  );
}

const COLUMNS: Column<Recovery>[] = [
  {
    title: 'Redelivery',
    width: '30%',
    cell: ({ kind, since, until }) => (
      <Stack gap={0}>
        <Text size="sm" fw={600}>
          {KIND_LABELS[kind]}
        </Text>
        <Text size="xs" c="dimmed">
          {formatPeriod(since, until)}
        </Text>
      </Stack>
    ),
  },
  { title: 'State', cell: (redelivery) => <RedeliveryBadge redelivery={redelivery} /> },
  { title: 'Progress', cell: (redelivery) => <RedeliveryBar redelivery={redelivery} /> },
  { title: 'Started', cell: (redelivery) => <StartedBy redelivery={redelivery} /> },
  {
    title: 'Actions',
    titleHidden: true,
    align: 'right',
    cell: (redelivery) => <CancelRedelivery redelivery={redelivery} size="compact-sm" />,
  },
];
