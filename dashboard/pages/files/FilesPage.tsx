import { Stack } from '@mantine/core';
import { useState } from 'react';
import { FILE_TYPES } from '../../../server/files/file-types.ts';
import type { StoredFile } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { OtherEnvironment } from '../../shared/feedback/OtherEnvironment.tsx';
import { FilterBar } from '../../shared/filters/FilterBar.tsx';
import { SelectFilter } from '../../shared/filters/SelectFilter.tsx';
import { TimeFilter } from '../../shared/filters/TimeFilter.tsx';
import { TIME_FILTERS, timeRangeOf } from '../../shared/filters/time-range.ts';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { CustomerSelect } from '../../shared/forms/CustomerSelect.tsx';
import { FeatureDisabled } from '../../shared/page/FeatureDisabled.tsx';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { DataTable } from '../../shared/table/DataTable.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { useCustomerNames } from '../../shared/text/use-customer-names.ts';
import { columnsOf } from './columns.tsx';
import { type FileAction, FileDialog } from './FileActions.tsx';
import { typeLabel } from './labels.ts';
import { UploadPanel } from './UploadPanel.tsx';

const REFRESH_MS = 4_000;
const FILTERS = ['state', 'type', 'customer', 'guid', ...TIME_FILTERS] as const;

export function FilesPage() {
  const { bank, can, environment, has } = useWorkspace();
  const { filters, field } = useFilters();
  const [action, setAction] = useState<FileAction>();
  const { from, until } = timeRangeOf(filters);
  const enabled = has('files');
  const isFiltered = FILTERS.some((name) => name in filters);
  const result = useList<StoredFile>(
    '/files',
    {
      guid: filters.guid,
      // A link to one file names no bank.
      bank_guid: filters.guid === undefined ? bank?.guid : undefined,
      state: filters.state,
      type: filters.type,
      customer_guid: filters.customer,
      created_at_gte: from,
      created_at_lt: until,
      after: filters.after,
    },
    { refetchInterval: REFRESH_MS, enabled },
  );
  const customers = useCustomerNames((result.data?.objects ?? []).map((file) => file.customer_guid));
  if (!enabled) return <FeatureDisabled feature="files" />;
  return (
    <Stack gap="lg">
      <PageHeader title="Files" guide="files" spaced={false}>
        Documents of your customers. API calls can refer to a file in state completed.
      </PageHeader>
      {can('files:execute') ? <UploadPanel /> : null}
      <div>
        <FilterBar names={FILTERS}>
          <SelectFilter
            label="State"
            placeholder="All states"
            data={['storing', 'completed', 'failed']}
            {...field('state')}
          />
          <SelectFilter
            label="Type"
            placeholder="All types"
            searchable
            data={FILE_TYPES.map((value) => ({ value, label: typeLabel(value) }))}
            {...field('type')}
          />
          <CustomerSelect clearable placeholder="All customers" {...field('customer')} />
          <TimeFilter />
        </FilterBar>
        <Panel flush>
          <DataTable
            result={result}
            label="Files"
            keyOf={({ guid }) => guid}
            columns={columnsOf(customers, setAction)}
            empty={
              isFiltered ? (
                <EmptyState icon="search" title={`No files in ${environment} match these filters`}>
                  Extend the time range or clear a filter.
                  <OtherEnvironment what="files" />
                </EmptyState>
              ) : (
                <EmptyState icon="file" title={`No files of ${bank?.name} in ${environment} yet`}>
                  {can('files:execute')
                    ? 'Select a customer and a type above, then drop a file.'
                    : 'Uploaded files appear here.'}
                  <OtherEnvironment what="files" />
                </EmptyState>
              )
            }
          />
        </Panel>
      </div>
      {action ? <FileDialog action={action} onClose={() => setAction(undefined)} /> : null}
    </Stack>
  );
}
