import { Button, Group, Table, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Bank } from '../../api/types.ts';
import { useEnvironmentApi } from '../../session/use-environment-api.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { NameDialog } from '../../shared/forms/NameDialog.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
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
      {banks.length === 0 ? (
        <EmptyState icon="bank" title="No banks yet">
          Create a sandbox bank to try the API without moving real money.
        </EmptyState>
      ) : (
        <Table.ScrollContainer minWidth={480}>
          <Table aria-label="Banks" verticalSpacing={6} horizontalSpacing="lg">
            <Table.Thead>
              <Table.Tr>
                <Table.Th fz="xs" c="dimmed">
                  Name
                </Table.Th>
                <Table.Th fz="xs" c="dimmed">
                  Environment
                </Table.Th>
                <Table.Th fz="xs" c="dimmed">
                  ID
                </Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {banks.map((bank) => (
                <Table.Tr key={bank.guid}>
                  <Table.Td>
                    <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
                      {bank.name}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    <EnvironmentName environment={bank.environment} />
                  </Table.Td>
                  <Table.Td>
                    <Guid value={bank.guid} name="bank ID" />
                  </Table.Td>
                  <Table.Td>
                    {can('banks:write') ? (
                      <Group justify="flex-end">
                        <Button
                          size="compact-xs"
                          variant="default"
                          onClick={() => setEdited(bank)}
                          aria-label={`Rename ${bank.name}`}
                        >
                          Rename
                        </Button>
                      </Group>
                    ) : null}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {edited ? <BankDialog edited={edited} onClose={() => setEdited(undefined)} /> : null}
    </Panel>
  );
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
