import { Group, Stack, Text } from '@mantine/core';
import type { StoredFile } from '../../api/types.ts';
import type { Column } from '../../shared/table/DataTable.tsx';
import { CopyButton } from '../../shared/text/CopyButton.tsx';
import { Guid } from '../../shared/text/Guid.tsx';
import { NoValue } from '../../shared/text/NoValue.tsx';
import { ObjectLink } from '../../shared/text/ObjectLink.tsx';
import { StateBadge } from '../../shared/text/StateBadge.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { type FileAction, FileActions } from './FileActions.tsx';
import { failureLabel, formatBytes, typeLabel } from './labels.ts';

export function columnsOf(
  customers: ReadonlyMap<string, string>,
  onAction: (action: FileAction) => void,
): Column<StoredFile>[] {
  return [
    {
      title: 'Name',
      width: '32%',
      cell: (file) => (
        <Stack gap={0} miw={0}>
          <Group gap={4} wrap="nowrap">
            <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
              {file.filename}
            </Text>
            <CopyButton value={file.guid} label={`Copy ID of ${file.filename}`} />
          </Group>
          <Text size="xs" c="dimmed">
            {typeLabel(file.type)}
            {file.size === undefined ? null : ` · ${formatBytes(file.size)}`}
          </Text>
          {failureLabel(file) ? (
            <Text size="xs" c="var(--mantine-color-red-light-color)">
              {failureLabel(file)}
            </Text>
          ) : null}
        </Stack>
      ),
    },
    { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
    {
      title: 'Customer',
      width: '16%',
      cell: ({ customer_guid: guid }) => (
        <ObjectLink type="customer" guid={guid} label={customers.get(guid)} />
      ),
    },
    {
      title: 'SHA-256',
      cell: ({ sha256 }) => (sha256 === undefined ? <NoValue /> : <Guid value={sha256} name="checksum" />),
    },
    { title: 'Created', cell: ({ created_at: at }) => <RelativeTime at={at} /> },
    {
      title: 'Actions',
      titleHidden: true,
      align: 'right',
      cell: (file) => <FileActions file={file} onAction={onAction} />,
    },
  ];
}
