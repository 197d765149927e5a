import { Alert, Anchor, Text } from '@mantine/core';
import { useState } from 'react';
import type { LoggedRequest } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { timeRangeOf } from '../../shared/filters/time-range.ts';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { type Column, DataTable } from '../../shared/table/DataTable.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { BreakableText } from '../../shared/text/BreakableText.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { formatDuration } from '../../shared/time/format-time.ts';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { CallerName } from './CallerName.tsx';
import { NoRequests } from './NoRequests.tsx';
import { RequestDrawer } from './RequestDrawer.tsx';
import { REQUEST_FILTERS, RequestFilters } from './RequestFilters.tsx';
import { StatusBadge } from './StatusBadge.tsx';

const REFRESH_MS = 5_000;

export function RequestsPage() {
  const { environment } = useWorkspace();
  const { filters } = useFilters();
  const { from, until } = timeRangeOf(filters);
  // The whole request: newer ones push it off the page while it is read.
  const [opened, setOpened] = useState<LoggedRequest>();
  const [linked, setLinked] = useState<string>();
  const result = useList<LoggedRequest>(
    '/request_log',
    {
      environment,
      request_id: filters.request_id,
      status: filters.status,
      method: filters.method,
      path: filters.path,
      message_code: filters.message_code,
      client_id: filters.client_id,
      address: filters.address,
      created_at_gte: from,
      created_at_lt: until,
      after: filters.after,
    },
    { refetchInterval: REFRESH_MS },
  );
  // A link to one request opens it.
  const named = result.data?.objects.find((request) => request.request_id === filters.request_id);
  if (linked !== named?.request_id) {
    setLinked(named?.request_id);
    setOpened(named);
  }
  const isFiltered = REQUEST_FILTERS.some((name) => filters[name] !== undefined);
  return (
    <>
      <PageHeader title="Requests" guide="request-log">
        Calls to /api and /oauth in {environment} in the last 7 days, including denied ones. Successful reads
        in the dashboard are not listed.
      </PageHeader>
      <RequestFilters />
      {result.data?.objects.some(({ sample_rate: rate }) => rate > 1) ? (
        <Alert mb="md" color="blue" variant="light" icon={<Icon name="info" />}>
          Some calls on this page were sampled: above 100 calls a second, one in 10 or one in 100 is logged.
        </Alert>
      ) : null}
      <Panel flush>
        <DataTable
          result={result}
          label="Requests"
          keyOf={(request) => request.request_id}
          columns={columnsOf(setOpened)}
          empty={<NoRequests isFiltered={isFiltered} id={filters.request_id} />}
        />
      </Panel>
      {opened ? <RequestDrawer request={opened} onClose={() => setOpened(undefined)} /> : null}
    </>
  );
}

function columnsOf(open: (request: LoggedRequest) => void): Column<LoggedRequest>[] {
  return [
    {
      title: 'Request',
      width: '28%',
      cell: (request) => (
        <Anchor
          component="button"
          type="button"
          ta="left"
          fw={600}
          ff="monospace"
          fz={13}
          onClick={() => open(request)}
        >
          {request.method} <BreakableText text={request.path} />
        </Anchor>
      ),
    },
    { title: 'Status', cell: (request) => <StatusBadge request={request} /> },
    { title: 'Called by', cell: (request) => <CallerName request={request} /> },
    {
      title: 'Address',
      cell: ({ address }) => (
        <Text size="sm" ff="monospace" fz={13}>
          <BreakableText text={address ?? '–'} />
        </Text>
      ),
    },
    {
      title: 'Duration',
      secondary: true,
      cell: ({ duration_ms: ms }) => <Text size="sm">{formatDuration(ms)}</Text>,
    },
    { title: 'Time', cell: ({ created_at: at }) => <RelativeTime at={at} /> },
  ];
}
