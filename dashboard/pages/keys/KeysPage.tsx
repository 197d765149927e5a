import { Button, SegmentedControl, Text } from '@mantine/core';
import { useState } from 'react';
import { useWorkspace } from '../../session/workspace.ts';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { type KeyAction, KeyDialog } from './KeyDialog.tsx';
import { KeyTable } from './KeyTable.tsx';
import type { KeyKind } from './scopes/read-scopes.ts';
import { useKeyApi } from './use-key-api.ts';

export function KeysPage() {
  const { bank } = useWorkspace();
  const { filters, change } = useFilters();
  const kind: KeyKind = filters.kind === 'organization' ? 'organization' : 'bank';
  const { canWrite } = useKeyApi(kind);
  const [action, setAction] = useState<KeyAction>();
  const startGenerating = () => setAction({ type: 'generate' });
  const canGenerate = canWrite && (kind === 'organization' || bank !== undefined);
  const generate = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={startGenerating}>
      Generate {kind} key
    </Button>
  );
  return (
    <>
      <PageHeader title="API keys" guide="authentication" actions={canGenerate ? generate : undefined}>
        Your application uses a key pair to get tokens. A bank key gives access to one bank, an organization
        key to all banks.
      </PageHeader>
      <SegmentedControl
        mb="md"
        value={kind}
        onChange={(value) => change({ kind: value === 'bank' ? undefined : value, client_id: undefined })}
        data={[
          { value: 'bank', label: <BankKeys bank={bank?.name} /> },
          { value: 'organization', label: 'Organization keys' },
        ]}
        aria-label="Key type"
      />
      <Panel flush>
        <KeyTable
          key={kind}
          kind={kind}
          onGenerate={canGenerate ? startGenerating : undefined}
          onAction={setAction}
        />
      </Panel>
      {action ? <KeyDialog kind={kind} action={action} onClose={() => setAction(undefined)} /> : null}
    </>
  );
}

/** Cut off on a phone, where both labels share the width. */
function BankKeys({ bank = 'Bank' }: { bank?: string | undefined }) {
  return (
    <Text inherit truncate maw="min(20rem, 40vw)" title={bank}>
      {bank} keys
    </Text>
  );
}
