import { Group, Stack, Text } from '@mantine/core';
import type { StoredFile } from '../../api/types.ts';
import type { Column } from '../../shared/table/DataTable.tsx';
import { CopyButton } from '../../shared/text/CopyButton.tsx';
import { Guid } from '../../shared/text/Guid.tsx';
import { NoValue } from '../../shared/text/NoValue.tsx';
import { StateBadge } from '../../shared/text/StateBadge.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { DownloadButton } from './DownloadButton.tsx';
import { FAILURE_LABELS, formatBytes, typeLabel } from './labels.ts';

export const COLUMNS: Column<StoredFile>[] = [
  {
    title: 'Name',
    width: '40%',
    cell: ({ guid, filename, type, size, failure_code: code }) => (
      <Stack gap={0} miw={0}>
        <Group gap={4} wrap="nowrap">
          <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
            {filename}
          </Text>
          <CopyButton value={guid} label={`Copy guid of ${filename}`} />
        </Group>
        <Text size="xs" c="dimmed">
          {typeLabel(type)}
          {size === undefined ? null : ` · ${formatBytes(size)}`}
        </Text>
        {code ? (
          <Text size="xs" c="var(--mantine-color-red-light-color)">
            {FAILURE_LABELS[code] ?? code}
          </Text>
        ) : null}
      </Stack>
    ),
  },
  { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  {
    title: 'SHA-256',
    cell: ({ sha256 }) => (sha256 === undefined ? <NoValue /> : <Guid value={sha256} name="checksum" />),
  },
  { title: 'Customer', cell: ({ customer_guid: guid }) => <Guid value={guid} name="customer_guid" /> },
  { title: 'Created', cell: ({ created_at: at }) => <RelativeTime at={at} /> },
  {
    title: 'Actions',
    titleHidden: true,
    align: 'right',
    cell: (file) => (file.state === 'completed' ? <DownloadButton file={file} /> : null),
  },
];
