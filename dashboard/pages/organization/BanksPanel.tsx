import { Button, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Bank } from '../../api/types.ts';
import { useEnvironmentApi } from '../../session/use-environment-api.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { NameDialog } from '../../shared/forms/NameDialog.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { type Column, DataTable } from '../../shared/table/DataTable.tsx';
import type { ListResult } from '../../shared/table/use-list.ts';
import { EnvironmentName } from '../../shared/text/EnvironmentName.tsx';
import { Guid } from '../../shared/text/Guid.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { MailLink } from '../../shared/text/MailLink.tsx';

/** A bank, or a new one. */
type Edited = Bank | 'new';

export function BanksPanel() {
  const { banks, can, session } = useWorkspace();
  const [edited, setEdited] = useState<Edited>();
  return (
    <Panel
      flush
      title="Banks"
      hint={
        <>
          Each bank belongs to one environment. For a production bank, contact{' '}
          <MailLink to={session.support_email} />.
        </>
      }
      actions={
        can('banks:execute') ? (
          <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={() => setEdited('new')}>
            Create sandbox bank
          </Button>
        ) : undefined
      }
    >
      <DataTable
        result={resultOf(banks)}
        label="Banks"
        paged={false}
        keyOf={({ guid }) => guid}
        columns={[...COLUMNS, ...(can('banks:write') ? [renameColumn(setEdited)] : [])]}
        empty={
          <EmptyState icon="bank" title="No banks yet">
            Create a sandbox bank to try the API without moving real money.
          </EmptyState>
        }
      />
      {edited ? <BankDialog edited={edited} onClose={() => setEdited(undefined)} /> : null}
    </Panel>
  );
}

const COLUMNS: readonly Column<Bank>[] = [
  {
    title: 'Name',
    cell: ({ name }) => (
      <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
        {name}
      </Text>
    ),
  },
  { title: 'Environment', cell: ({ environment }) => <EnvironmentName environment={environment} /> },
  { title: 'ID', cell: ({ guid }) => <Guid value={guid} name="bank ID" /> },
];

function renameColumn(onRename: (bank: Bank) => void): Column<Bank> {
  return {
    title: 'Actions',
    titleHidden: true,
    align: 'right',
    cell: (bank) => (
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => onRename(bank)}
        aria-label={`Rename ${bank.name}`}
      >
        Rename
      </Button>
    ),
  };
}

/** The workspace has loaded the banks. */
function resultOf(banks: readonly Bank[]): ListResult<Bank> {
  const list = { total: banks.length, page: 1, per_page: banks.length, objects: [...banks] };
  return { data: list, error: null, isPending: false, isPlaceholderData: false, refetch: () => undefined };
}

function BankDialog({ edited, onClose }: { edited: Edited; onClose: () => void }) {
  const apiOf = useEnvironmentApi();
  const queries = useQueryClient();
  const isNew = edited === 'new';
  return (
    <NameDialog
      title={isNew ? 'Create sandbox bank' : 'Rename bank'}
      action={isNew ? 'Create' : 'Rename'}
      initial={isNew ? '' : edited.name}
      onClose={onClose}
      onSave={async (name) => {
        if (isNew) await apiOf('sandbox').post('/banks', { name });
        else await apiOf(edited.environment).patch(`/banks/${edited.guid}`, { name });
        await queries.invalidateQueries({ queryKey: ['banks'] });
        notifySuccess(isNew ? `${name} was created.` : `The bank is now called ${name}.`);
      }}
    />
  );
}
