import { Badge, Button, Stack, Text, Tooltip } from '@mantine/core';
import { useEffect } from 'react';
import { scopesFor } from '../../../server/tokens/scopes.ts';
import type { Application } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { NoBank } from '../../shared/feedback/NoBank.tsx';
import { OtherEnvironment } from '../../shared/feedback/OtherEnvironment.tsx';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { type Column, DataTable } from '../../shared/table/DataTable.tsx';
import { ShowAll } from '../../shared/table/ShowAll.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { Guid } from '../../shared/text/Guid.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import type { KeyAction } from './KeyDialog.tsx';
import { KeyMenu } from './KeyMenu.tsx';
import { RotationBadge } from './RotationBadge.tsx';
import type { KeyKind } from './scopes/read-scopes.ts';
import { useKeyApi } from './use-key-api.ts';
import { useRotations } from './use-rotations.ts';

export function KeyTable({
  kind,
  onGenerate,
  onAction,
}: {
  kind: KeyKind;
  onGenerate: (() => void) | undefined;
  onAction: (task: KeyAction) => void;
}) {
  const { bank, environment } = useWorkspace();
  const { filters } = useFilters();
  const only = filters.client_id;
  const { path, canWrite } = useKeyApi(kind);
  const result = useList<Application>(
    path,
    { after: filters.after, ...(kind === 'bank' ? { bank_guid: bank?.guid } : {}) },
    { enabled: kind === 'organization' || bank !== undefined, only },
  );
  const rotationOf = useRotations(kind, result.data?.objects ?? []);
  useBankOf(only === undefined ? undefined : result.data?.objects[0]);
  if (kind === 'bank' && !bank) return <NoBank purpose="Bank keys belong to a bank." />;
  const actions: Column<Application>[] = canWrite
    ? [
        {
          title: 'Actions',
          titleHidden: true,
          align: 'right',
          cell: (application) => (
            <KeyMenu application={application} rotation={rotationOf(application)} onAction={onAction} />
          ),
        },
      ]
    : [];
  return (
    <DataTable
      result={result}
      label="API keys"
      keyOf={({ client_id }) => client_id}
      columns={[...columnsOf(kind, rotationOf), ...actions]}
      toolbar={<ShowAll filter="client_id" label="Show all keys" />}
      empty={
        only === undefined ? (
          <EmptyState
            icon="key"
            title={
              kind === 'bank' ? `No keys for ${bank?.name} in ${environment} yet` : 'No organization keys yet'
            }
            action={onGenerate ? <Button onClick={onGenerate}>Generate {kind} key</Button> : undefined}
          >
            {onGenerate
              ? 'Your application needs a key pair to get tokens.'
              : 'You need the Key Admin or Founder role to generate keys.'}
            {kind === 'bank' ? <OtherEnvironment what="keys" /> : null}
          </EmptyState>
        ) : (
          <EmptyState
            icon="search"
            title="No key with this ID"
            action={<ShowAll filter="client_id" label="Show all keys" />}
          >
            It was deleted, or it belongs to the other environment.
          </EmptyState>
        )
      }
    />
  );
}

/** Selects the bank of a key that a link opened. */
function useBankOf(key: Application | undefined): void {
  const { bank, banks, chooseBank } = useWorkspace();
  const other = banks.find(({ guid }) => guid === key?.bank_guid && guid !== bank?.guid);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another bank is selected
  useEffect(() => {
    if (other) chooseBank(other);
  }, [other]);
}

function columnsOf(kind: KeyKind, rotationOf: ReturnType<typeof useRotations>): Column<Application>[] {
  return [
    {
      title: 'Name',
      cell: (key) => (
        <Stack gap={0} miw={0}>
          <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
            {key.name}
          </Text>
          <Guid value={key.client_id} name="client_id" />
          <RotationBadge application={key} rotation={rotationOf(key)} />
        </Stack>
      ),
    },
    { title: 'Scopes', cell: (key) => <ScopeCount scopes={key.scopes} all={scopesFor(kind).length} /> },
    { title: 'IP allowlist', cell: (key) => <Allowlist entries={key.ip_allowlist} /> },
    {
      title: 'Last used',
      cell: ({ last_used_at: at, last_used_ip: ip }) => (
        <Stack gap={0}>
          <RelativeTime at={at} />
          {ip ? (
            <Text size="xs" c="dimmed" ff="monospace">
              {ip}
            </Text>
          ) : null}
        </Stack>
      ),
    },
    { title: 'Created', cell: (key) => <RelativeTime at={key.created_at} /> },
  ];
}

function ScopeCount({ scopes, all }: { scopes: readonly string[]; all: number }) {
  const label = scopes.length === all ? 'All' : scopes.length === 0 ? 'None' : `${scopes.length} of ${all}`;
  return (
    <Tooltip label={scopes.join(', ') || 'This key cannot get tokens'} multiline maw={360}>
      <Text size="sm" span>
        {label}
      </Text>
    </Tooltip>
  );
}

function Allowlist({ entries }: { entries: readonly string[] }) {
  if (entries.length === 0)
    return (
      <Badge color="yellow" variant="light" radius="sm" tt="none" miw="max-content">
        Any address
      </Badge>
    );
  return (
    <Stack gap={2}>
      {entries.map((entry) => (
        <Text key={entry} size="xs" ff="monospace">
          {entry}
        </Text>
      ))}
    </Stack>
  );
}
