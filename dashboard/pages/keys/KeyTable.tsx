import { Badge, Button, Stack, Text, Tooltip } from '@mantine/core';
import { scopesFor } from '../../../server/tokens/scopes.ts';
import type { Application } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { type Column, DataTable } from '../../shared/table/DataTable.tsx';
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
  const { bank } = useWorkspace();
  const { filters } = useFilters();
  const { path, canWrite } = useKeyApi(kind);
  const result = useList<Application>(
    path,
    { after: filters.after, ...(kind === 'bank' ? { bank_guid: bank?.guid } : {}) },
    { enabled: kind === 'organization' || bank !== undefined },
  );
  const rotationOf = useRotations(kind, result.data?.objects ?? []);
  if (kind === 'bank' && !bank)
    return (
      <EmptyState icon="bank" title="No banks yet">
        Bank keys belong to a bank. Create a sandbox bank under Get started.
      </EmptyState>
    );
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
      empty={
        <EmptyState
          icon="key"
          title={kind === 'bank' ? `No keys for ${bank?.name} yet` : 'No organization keys yet'}
          action={onGenerate ? <Button onClick={onGenerate}>Generate {kind} key</Button> : undefined}
        >
          {onGenerate
            ? 'Your application needs a key pair to get tokens.'
            : 'You need the Key Admin or Founder role to generate keys.'}
        </EmptyState>
      }
    />
  );
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
      <Badge color="yellow" variant="light" radius="sm" tt="none">
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
