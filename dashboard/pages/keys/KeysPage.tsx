import { Button, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useWorkspace } from '../../session/workspace.ts';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { type KeyAction, KeyDialog } from './KeyDialog.tsx';
import { KeyTable } from './KeyTable.tsx';
import { type KeyKind, useKeyApi } from './use-key-api.ts';

/** Developers → API keys: those of the selected bank, and those of the Organization. */
export function KeysPage() {
  const { bank } = useWorkspace();
  const { filters, change } = useFilters();
  const kind: KeyKind = filters.kind === 'organization' ? 'organization' : 'bank';
  const { mayWrite } = useKeyApi(kind);
  const [task, setTask] = useState<KeyAction>();
  const startGenerating = () => setTask({ what: 'generate' });
  const canGenerate = mayWrite && (kind === 'organization' || bank !== undefined);
  const generate = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={startGenerating}>
      Generate {kind === 'bank' ? 'bank' : 'organization'} key
    </Button>
  );
  return (
    <>
      <PageHeader title="API keys" actions={canGenerate ? generate : undefined}>
        A key pair is exchanged for tokens. Bank keys act for one bank; organization keys for all of them.
      </PageHeader>
      <SegmentedControl
        mb="md"
        value={kind}
        onChange={(value) => change({ kind: value === 'bank' ? undefined : value })}
        data={[
          { value: 'bank', label: bank ? `Keys of ${bank.name}` : 'Bank keys' },
          { value: 'organization', label: 'Organization keys' },
        ]}
        aria-label="Kind of keys"
      />
      <Panel flush>
        <KeyTable
          key={kind}
          kind={kind}
          onGenerate={canGenerate ? startGenerating : undefined}
          onDo={setTask}
        />
      </Panel>
      {task ? <KeyDialog kind={kind} task={task} onClose={() => setTask(undefined)} /> : null}
    </>
  );
}
