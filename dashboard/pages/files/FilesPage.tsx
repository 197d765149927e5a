import { Button, Select, Stack, Text } from '@mantine/core';
import { FILE_TYPES } from '../../../server/files/file-types.ts';
import type { StoredFile } from '../../api/types.ts';
import { CopyButton } from '../../shared/CopyButton.tsx';
import { CustomerSelect } from '../../shared/CustomerSelect.tsx';
import { type Column, DataTable } from '../../shared/DataTable.tsx';
import { EmptyState } from '../../shared/EmptyState.tsx';
import { FeatureOff } from '../../shared/FeatureOff.tsx';
import { FilterBar } from '../../shared/FilterBar.tsx';
import { useFilters } from '../../shared/filters.ts';
import { Guid } from '../../shared/Guid.tsx';
import { Icon } from '../../shared/Icon.tsx';
import { useList } from '../../shared/lists.ts';
import { Moment } from '../../shared/Moment.tsx';
import { tellProblem } from '../../shared/notify.ts';
import { PageHeader } from '../../shared/PageHeader.tsx';
import { Panel } from '../../shared/Panel.tsx';
import { StateBadge } from '../../shared/StateBadge.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { UploadPanel } from './UploadPanel.tsx';
import { bytes, FAILURE_WORDS, wordsOf } from './words.ts';

const REFRESH_MS = 4_000;

/** Documents of the bank's customers. */
export function FilesPage() {
  const { bank, can, organization } = useWorkspace();
  const { filters, change } = useFilters();
  const enabled = organization.features.includes('files');
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
  if (!enabled) return <FeatureOff feature="files" />;
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
          <CustomerSelect clearable value={filters.customer} onChange={(customer) => change({ customer })} />
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

const COLUMNS: Column<StoredFile>[] = [
  {
    title: 'Name',
    cell: ({ filename, type, size }) => (
      <Stack gap={0} miw={0}>
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {filename}
        </Text>
        <Text size="xs" c="dimmed">
          {wordsOf(type)}
          {size === undefined ? null : ` · ${bytes(size)}`}
        </Text>
      </Stack>
    ),
  },
  {
    title: 'State',
    cell: ({ state, failure_code: code }) => (
      <Stack gap={2} align="flex-start">
        <StateBadge state={state} />
        {code ? (
          <Text size="xs" c="dimmed">
            {FAILURE_WORDS[code] ?? code}
          </Text>
        ) : null}
      </Stack>
    ),
  },
  {
    title: 'SHA-256',
    cell: ({ sha256 }) =>
      sha256 === undefined ? (
        <Text size="sm" c="dimmed">
          –
        </Text>
      ) : (
        <Guid value={sha256} name="checksum" />
      ),
  },
  { title: 'Customer', cell: ({ customer_guid: guid }) => <Guid value={guid} name="customer_guid" /> },
  { title: 'Created', cell: ({ created_at: at }) => <Moment at={at} /> },
  {
    title: 'Actions',
    titleHidden: true,
    align: 'right',
    cell: (file) =>
      file.state === 'completed' ? (
        <Download file={file} />
      ) : (
        <CopyButton value={file.guid} label="Copy guid" />
      ),
  },
];

/** The address is short-lived, so it is asked for when it is wanted. */
function Download({ file }: { file: StoredFile }) {
  const { api } = useWorkspace();
  const download = async () => {
    const query = { include_download_url: true };
    const { download_url: url } = await api.get<StoredFile>(`/files/${file.guid}`, { query });
    if (url !== undefined) location.assign(url);
  };
  return (
    <Button
      variant="subtle"
      size="compact-sm"
      leftSection={<Icon name="download" size={15} />}
      onClick={() => void download().catch(tellProblem)}
    >
      Download
    </Button>
  );
}
