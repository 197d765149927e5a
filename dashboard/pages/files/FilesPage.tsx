import { Select, Stack } from '@mantine/core';
import { FILE_TYPES } from '../../../server/files/file-types.ts';
import type { StoredFile } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { FeatureDisabled } from '../../shared/feedback/FeatureDisabled.tsx';
import { FilterBar } from '../../shared/filters/FilterBar.tsx';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { CustomerSelect } from '../../shared/forms/CustomerSelect.tsx';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { DataTable } from '../../shared/table/DataTable.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { COLUMNS } from './columns.tsx';
import { wordsOf } from './labels.ts';
import { UploadPanel } from './UploadPanel.tsx';

const REFRESH_MS = 4_000;

/** Documents of the bank's customers. */
export function FilesPage() {
  const { bank, can, has } = useWorkspace();
  const { filters, change } = useFilters();
  const enabled = has('files');
  const result = useList<StoredFile>(
    '/files',
    {
      bank_guid: bank?.guid,
      state: filters.state,
      type: filters.type,
      customer_guid: filters.customer,
      after: filters.after,
    },
    { refetchInterval: REFRESH_MS, enabled },
  );
  if (!enabled) return <FeatureDisabled feature="files" />;
  return (
    <Stack gap="lg">
      <PageHeader title="Files" spaced={false}>
        Documents of {bank?.name ?? 'the bank'}’s customers. Once completed, other calls can refer to them.
      </PageHeader>
      {can('files:execute') ? <UploadPanel /> : null}
      <div>
        <FilterBar names={['state', 'type', 'customer']}>
          <Select
            label="State"
            placeholder="Every state"
            clearable
            data={['storing', 'completed', 'failed']}
            value={filters.state ?? null}
            onChange={(state) => change({ state: state ?? undefined })}
          />
          <Select
            label="Type"
            placeholder="Every type"
            clearable
            searchable
            data={FILE_TYPES.map((value) => ({ value, label: wordsOf(value) }))}
            value={filters.type ?? null}
            onChange={(type) => change({ type: type ?? undefined })}
          />
          <CustomerSelect
            clearable
            placeholder="Every customer"
            value={filters.customer}
            onChange={(customer) => change({ customer })}
          />
        </FilterBar>
        <Panel flush>
          <DataTable
            result={result}
            label="Files"
            keyOf={({ guid }) => guid}
            columns={COLUMNS}
            empty={
              <EmptyState icon="file" title="No file here">
                {can('files:execute')
                  ? 'Choose a customer and a type above, and drop one.'
                  : 'None was uploaded yet.'}
              </EmptyState>
            }
          />
        </Panel>
      </div>
    </Stack>
  );
}
