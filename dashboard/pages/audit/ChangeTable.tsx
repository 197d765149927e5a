import { Group, Table, Text } from '@mantine/core';
import type { AuditEntry } from '../../api/types.ts';
import { NoValue } from '../../shared/text/NoValue.tsx';
import { type Difference, differencesOf } from './differences.ts';

/** Before and after of an update; only the values of other actions. */
export function ChangeTable({ entry }: { entry: AuditEntry }) {
  const differences = differencesOf(entry);
  if (differences.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No fields are recorded for this action.
      </Text>
    );
  const hasBefore = entry.before !== undefined;
  return (
    <Table aria-label="Changes" verticalSpacing={6} layout="fixed" styles={{ td: { verticalAlign: 'top' } }}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="28%">Field</Table.Th>
          {hasBefore ? <Table.Th>Before</Table.Th> : null}
          <Table.Th>{hasBefore ? 'After' : 'Value'}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {differences.map((difference) => (
          <Table.Tr key={difference.field}>
            <Table.Td>
              <Text size="sm" ff="monospace" fz={13} style={{ overflowWrap: 'anywhere' }}>
                {difference.field}
              </Text>
            </Table.Td>
            {difference.list ? (
              <Table.Td colSpan={hasBefore ? 2 : 1}>
                <ListChange list={difference.list} />
              </Table.Td>
            ) : (
              <>
                {hasBefore ? <Value text={difference.before} /> : null}
                <Value text={difference.after} />
              </>
            )}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Value({ text }: { text: string | undefined }) {
  return (
    <Table.Td>
      {text === undefined ? (
        <NoValue />
      ) : (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {text}
        </Text>
      )}
    </Table.Td>
  );
}

function ListChange({ list: { added, removed, unchanged } }: { list: NonNullable<Difference['list']> }) {
  return (
    <Group gap="2px 12px">
      {removed.map((entry) => (
        <Text key={entry} size="sm" c="var(--mantine-color-red-text)" style={{ overflowWrap: 'anywhere' }}>
          − {entry}
        </Text>
      ))}
      {added.map((entry) => (
        <Text key={entry} size="sm" c="var(--mantine-color-teal-text)" style={{ overflowWrap: 'anywhere' }}>
          + {entry}
        </Text>
      ))}
      {unchanged > 0 ? (
        <Text size="xs" c="dimmed">
          {unchanged} unchanged
        </Text>
      ) : null}
    </Group>
  );
}
