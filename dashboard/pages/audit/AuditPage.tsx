import { Button, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { AuditEntry } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { notifyError } from '../../shared/feedback/notify.ts';
import { DateTimeFilter } from '../../shared/filters/DateTimeFilter.tsx';
import { FilterBar } from '../../shared/filters/FilterBar.tsx';
import { TextFilter } from '../../shared/filters/TextFilter.tsx';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { downloadBlob } from '../../shared/secrets/download-blob.ts';
import { type Column, DataTable } from '../../shared/table/DataTable.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { BreakableText } from '../../shared/text/BreakableText.tsx';
import { Guid } from '../../shared/text/Guid.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { ActorName } from './ActorName.tsx';
import { Changes } from './Changes.tsx';

export function AuditPage() {
  const { api, can } = useWorkspace();
  const { filters, change } = useFilters();
  const query = {
    action: filters.action,
    actor: filters.actor,
    object_id: filters.object,
    created_at_gte: filters.from,
    created_at_lt: filters.until,
  };
  const canView = can('audit_entries:read');
  const result = useList<AuditEntry>(
    '/audit_entries',
    { ...query, after: filters.after },
    { enabled: canView },
  );
  const save = useMutation({
    mutationFn: async () =>
      downloadBlob('portico-audit.csv', await (await api.open('/audit_entries.csv', { query })).blob()),
    onError: notifyError,
  });
  if (!canView)
    return (
      <EmptyState icon="shield" title="You need the Key Admin or Founder role to view the audit log">
        Ask a Founder to change your role.
      </EmptyState>
    );
  return (
    <>
      <PageHeader
        title="Audit log"
        actions={
          <Button
            variant="default"
            leftSection={<Icon name="download" size={16} />}
            loading={save.isPending}
            onClick={() => save.mutate()}
          >
            Export CSV
          </Button>
        }
      >
        Changes to your Organization: who made them, when and from which address.
      </PageHeader>
      <FilterBar names={['action', 'actor', 'object', 'from', 'until']}>
        <TextFilter
          label="Action"
          placeholder="subscription.create"
          value={filters.action}
          onChange={(action) => change({ action })}
        />
        <TextFilter
          label="Actor"
          placeholder="Guid"
          value={filters.actor}
          onChange={(actor) => change({ actor })}
        />
        <TextFilter
          label="Object"
          placeholder="Guid"
          value={filters.object}
          onChange={(object) => change({ object })}
        />
        <DateTimeFilter label="From" value={filters.from} onChange={(from) => change({ from })} />
        <DateTimeFilter label="Until" value={filters.until} onChange={(until) => change({ until })} />
      </FilterBar>
      <Panel flush>
        <DataTable
          result={result}
          label="Audit entries"
          keyOf={({ guid }) => guid}
          columns={COLUMNS}
          empty={
            <EmptyState icon="audit" title="No entries match these filters">
              Extend the time range or clear a filter.
            </EmptyState>
          }
        />
      </Panel>
    </>
  );
}

const COLUMNS: Column<AuditEntry>[] = [
  {
    title: 'Action',
    cell: ({ action }) => (
      <Text size="sm" ff="monospace" fz={13} fw={600}>
        <BreakableText text={action} />
      </Text>
    ),
  },
  { title: 'Actor', cell: (entry) => <ActorName entry={entry} /> },
  {
    title: 'Object',
    cell: ({ object_type: type, object_id: id }) => (
      <Stack gap={0}>
        <Text size="xs" c="dimmed">
          {type.replaceAll('_', ' ')}
        </Text>
        {/^[0-9a-f]{32}$/.test(id) ? <Guid value={id} name="object" /> : <Text size="sm">{id}</Text>}
      </Stack>
    ),
  },
  {
    title: 'Changes',
    width: '26%',
    cell: ({ changes }) => <Changes changes={changes} />,
  },
  {
    title: 'Address',
    cell: ({ address }) => (
      <Text size="sm" ff="monospace" fz={13}>
        {address ?? '–'}
      </Text>
    ),
  },
  { title: 'Time', cell: ({ created_at: at }) => <RelativeTime at={at} /> },
];
