import { Anchor, Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { Inbox, InboxRequestSummary } from '../../api/types.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { type Column, DataTable } from '../../shared/table/DataTable.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { CheckSignatureButton, VerificationCodeButton } from '../../shared/verification/Verification.tsx';
import { answerLabel } from './answers.ts';
import { InboxRequestDrawer } from './InboxRequestDrawer.tsx';
import { SignatureBadge } from './SignatureBadge.tsx';

const REFRESH_MS = 2_000;
/** As many as the service keeps, so that the table needs no pages. */
const MAX_REQUESTS = 100;

export function InboxRequests({ inbox }: { inbox: Inbox }) {
  const [opened, setOpened] = useState<string>();
  const result = useList<InboxRequestSummary>(
    `/inboxes/${inbox.guid}/requests`,
    { per_page: MAX_REQUESTS },
    { refetchInterval: REFRESH_MS },
  );
  return (
    <Panel
      flush
      title="Requests"
      hint="The newest 100 of the last 24 hours. Limits: 600 requests a minute, 64 KiB each."
      actions={
        <Group gap="xs">
          <VerificationCodeButton />
          <CheckSignatureButton />
        </Group>
      }
    >
      <DataTable
        result={result}
        paged={false}
        label="Requests"
        keyOf={({ guid }) => guid}
        columns={columnsOf(setOpened)}
        empty={
          <EmptyState icon="inbox" title="No requests in the last 24 hours">
            A request appears here as soon as it arrives.
          </EmptyState>
        }
      />
      {opened ? <InboxRequestDrawer guid={opened} onClose={() => setOpened(undefined)} /> : null}
    </Panel>
  );
}

function columnsOf(open: (guid: string) => void): Column<InboxRequestSummary>[] {
  return [
    {
      title: 'Event type',
      cell: ({ guid, event_type: type }) => (
        <Anchor component="button" type="button" ta="left" fw={600} size="sm" onClick={() => open(guid)}>
          {type ?? 'No event type'}
        </Anchor>
      ),
    },
    { title: 'Signature', cell: ({ signature }) => <SignatureBadge signature={signature} /> },
    { title: 'Answer', cell: ({ answer }) => <Text size="sm">{answerLabel(answer)}</Text> },
    { title: 'Size', cell: ({ body_bytes: bytes }) => <Text size="sm">{bytes} bytes</Text> },
    { title: 'Received', cell: ({ received_at: at }) => <RelativeTime at={at} /> },
  ];
}
