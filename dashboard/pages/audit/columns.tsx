import { Anchor, Text } from '@mantine/core';
import type { AuditEntry } from '../../api/types.ts';
import type { Column } from '../../shared/table/DataTable.tsx';
import { BreakableText } from '../../shared/text/BreakableText.tsx';
import { CellText } from '../../shared/text/CellText.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { Changes } from './Changes.tsx';
import { actorLabel, objectLabel } from './labels.ts';

const ID_TAIL = 6;

export function columnsOf(open: (entry: AuditEntry) => void): Column<AuditEntry>[] {
  return [
    {
      title: 'Action',
      width: '22%',
      cell: (entry) => (
        <Anchor
          component="button"
          type="button"
          ta="left"
          ff="monospace"
          fz={13}
          fw={600}
          onClick={() => open(entry)}
        >
          <BreakableText text={entry.action} />
        </Anchor>
      ),
    },
    {
      title: 'Actor',
      cell: (entry) => <Named name={actorLabel(entry)} id={entry.actor} title={entry.actor_email} />,
    },
    {
      title: 'Object',
      cell: (entry) => <Named label={objectLabel(entry)} name={entry.object_name} id={entry.object_id} />,
    },
    { title: 'Changes', width: '24%', secondary: true, cell: (entry) => <Changes entry={entry} /> },
    {
      title: 'Address',
      cell: ({ address }) => (
        <Text size="sm" ff="monospace" fz={13}>
          <BreakableText text={address ?? '–'} />
        </Text>
      ),
    },
    { title: 'Time', cell: ({ created_at: at }) => <RelativeTime at={at} /> },
  ];
}

/** The end of the ID stands in for a name: IDs of about the same time begin alike. */
function Named({
  label,
  name,
  id,
  title = id,
}: {
  label?: string;
  name: string | undefined;
  id: string;
  title?: string | undefined;
}) {
  return (
    <CellText title={title}>
      {label ? (
        <Text span inherit c="dimmed">
          {label}{' '}
        </Text>
      ) : null}
      {name ?? (id.length > ID_TAIL ? `…${id.slice(-ID_TAIL)}` : id)}
    </CellText>
  );
}
