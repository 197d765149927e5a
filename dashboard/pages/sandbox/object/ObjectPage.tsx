import { Group, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { SandboxObject } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { NotFound } from '../../../shared/feedback/NotFound.tsx';
import { DetailPage } from '../../../shared/page/DetailPage.tsx';
import { DetailsPanel } from '../../../shared/page/DetailsPanel.tsx';
import { LabeledValue } from '../../../shared/page/LabeledValue.tsx';
import { PageHeader } from '../../../shared/page/PageHeader.tsx';
import { Panel } from '../../../shared/page/Panel.tsx';
import { CodeBlock } from '../../../shared/text/CodeBlock.tsx';
import { Guid } from '../../../shared/text/Guid.tsx';
import { PageLink } from '../../../shared/text/PageLink.tsx';
import { StateBadge } from '../../../shared/text/StateBadge.tsx';
import { useNow } from '../../../shared/time/NowProvider.tsx';
import { RelativeTime } from '../../../shared/time/RelativeTime.tsx';
import { ObjectActions, ObjectDialog, type Opened } from '../ObjectActions.tsx';
import { KINDS, type Kind } from '../object-kinds.ts';
import { summaryOf } from '../summary.ts';
import { quoteState, useQuoteUses } from '../use-quote-uses.ts';
import { References } from './References.tsx';
import { StateHistory } from './StateHistory.tsx';

const REFRESH_MS = 2_000;

/** An object of either environment: its fields as the API returns them, its states and its events. */
export function ObjectPage() {
  const { kind: path } = useParams({ strict: false }) as { kind: string };
  const { environment } = useWorkspace();
  const kind = KINDS.find((each) => each.path === path);
  if (!kind) return <NotFound />;
  const back =
    environment === 'sandbox' ? (
      <PageLink to="/sandbox" search={{ kind: path }} size="sm">
        ← Sandbox
      </PageLink>
    ) : (
      <PageLink to="/events" size="sm">
        ← Events
      </PageLink>
    );
  return (
    <DetailPage<SandboxObject> key={path} path={`/${path}`} back={back} refreshMs={REFRESH_MS}>
      {(object) => <ObjectDetails kind={kind} object={object} />}
    </DetailPage>
  );
}

function ObjectDetails({ kind, object }: { kind: Kind; object: SandboxObject }) {
  const now = useNow();
  const isQuote = kind.path === 'quotes';
  const uses = useQuoteUses(isQuote ? [object] : [], REFRESH_MS);
  const state = isQuote ? quoteState(object, uses, now) : object.state;
  const { environment } = useWorkspace();
  const [opened, setOpened] = useState<Opened>();
  const actions = <ObjectActions kind={kind} object={object} state={state} onOpen={setOpened} />;
  return (
    <>
      <PageHeader
        title={kind.label}
        guide="objects"
        spaced={false}
        actions={environment === 'sandbox' ? actions : undefined}
      >
        <Group gap="xs">
          <Text size="sm">{summaryOf(kind, object)}</Text>
          {state === undefined ? null : <StateBadge state={state} />}
        </Group>
      </PageHeader>
      <DetailsPanel>
        <LabeledValue label="Created">
          <RelativeTime at={object.created_at} />
        </LabeledValue>
        <LabeledValue label="Updated">
          <RelativeTime at={object.updated_at} />
        </LabeledValue>
        <LabeledValue label="ID">
          <Guid value={object.guid} name="ID" />
        </LabeledValue>
        <References object={object} />
      </DetailsPanel>
      <StateHistory kind={kind} object={object} state={state} use={uses?.get(object.guid)} />
      <Panel
        title="JSON"
        hint={
          <>
            Response of <code>GET /api/{kind.path}/&#123;guid&#125;</code>
          </>
        }
      >
        <CodeBlock label="object as JSON" code={JSON.stringify(object, null, 2)} />
      </Panel>
      {opened ? <ObjectDialog opened={opened} onClose={() => setOpened(undefined)} /> : null}
    </>
  );
}
