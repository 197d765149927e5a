import { useState } from 'react';
import type { AuditEntry } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { FilterBar } from '../../shared/filters/FilterBar.tsx';
import { SelectFilter } from '../../shared/filters/SelectFilter.tsx';
import { TextFilter } from '../../shared/filters/TextFilter.tsx';
import { TimeFilter } from '../../shared/filters/TimeFilter.tsx';
import { TIME_FILTERS, timeRangeOf } from '../../shared/filters/time-range.ts';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { DataTable } from '../../shared/table/DataTable.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { ActorFilter } from './ActorFilter.tsx';
import { AuditDrawer } from './AuditDrawer.tsx';
import { columnsOf } from './columns.tsx';
import { GROUP_LABELS } from './labels.ts';

const GROUPS = Object.entries(GROUP_LABELS).map(([value, label]) => ({ value, label }));

export function AuditPage() {
  const { can } = useWorkspace();
  const { filters, field } = useFilters();
  const [opened, setOpened] = useState<AuditEntry>();
  const { from, until } = timeRangeOf(filters);
  const canView = can('audit_entries:read');
  const result = useList<AuditEntry>(
    '/audit_entries',
    {
      action_group: filters.group,
      action: filters.action,
      actor: filters.actor,
      object_id: filters.object,
      created_at_gte: from,
      created_at_lt: until,
      after: filters.after,
    },
    { enabled: canView },
  );
  if (!canView)
    return (
      <EmptyState icon="shield" title="You need the Key Admin or Founder role to view the audit log">
        Ask a Founder to change your role.
      </EmptyState>
    );
  return (
    <>
      <PageHeader title="Audit log">
        Changes to your Organization: who made them, when and from which address.
      </PageHeader>
      <FilterBar names={['group', 'action', 'actor', 'object', ...TIME_FILTERS]}>
        <SelectFilter label="Group" placeholder="All actions" data={GROUPS} {...field('group')} />
        <TextFilter label="Action" placeholder="member.invite or member." {...field('action')} />
        <ActorFilter entries={result.data?.objects ?? []} {...field('actor')} />
        <TextFilter label="Object" placeholder="ID" {...field('object')} />
        <TimeFilter />
      </FilterBar>
      <Panel flush>
        <DataTable
          result={result}
          label="Audit entries"
          keyOf={({ guid }) => guid}
          columns={columnsOf(setOpened)}
          csvPath="/audit_entries.csv"
          empty={
            <EmptyState icon="audit" title="No entries match these filters">
              Extend the time range or clear a filter.
            </EmptyState>
          }
        />
      </Panel>
      {opened ? <AuditDrawer entry={opened} onClose={() => setOpened(undefined)} /> : null}
    </>
  );
}
