import { Group, Stack, Text } from '@mantine/core';
import type { StoredFile } from '../../api/types.ts';
import { CopyButton } from '../../shared/CopyButton.tsx';
import type { Column } from '../../shared/DataTable.tsx';
import { Guid } from '../../shared/Guid.tsx';
import { Moment } from '../../shared/Moment.tsx';
import { StateBadge } from '../../shared/StateBadge.tsx';
import { Download } from './Download.tsx';
import { bytes, FAILURE_WORDS, wordsOf } from './words.ts';

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
          <CopyButton value={guid} label={`Copy the guid of ${filename}`} />
        </Group>
        <Text size="xs" c="dimmed">
          {wordsOf(type)}
          {size === undefined ? null : ` · ${bytes(size)}`}
        </Text>
        {code ? (
          <Text size="xs" c="var(--mantine-color-red-light-color)">
            {FAILURE_WORDS[code] ?? code}
          </Text>
        ) : null}
      </Stack>
    ),
  },
  { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
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
    cell: (file) => (file.state === 'completed' ? <Download file={file} /> : null),
  },
];
