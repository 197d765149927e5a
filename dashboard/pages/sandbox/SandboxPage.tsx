import { Badge, Button, Group, Select, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { SandboxObject } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { NoBank } from '../../shared/feedback/NoBank.tsx';
import { FilterBar } from '../../shared/filters/FilterBar.tsx';
import { TimeFilter } from '../../shared/filters/TimeFilter.tsx';
import { TIME_FILTERS, timeRangeOf } from '../../shared/filters/time-range.ts';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { type Column, DataTable } from '../../shared/table/DataTable.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { Icon } from '../../shared/text/Icon.tsx';
import { NoValue } from '../../shared/text/NoValue.tsx';
import { ObjectLink } from '../../shared/text/ObjectLink.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { StateBadge } from '../../shared/text/StateBadge.tsx';
import { useNow } from '../../shared/time/NowProvider.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { CreateObject } from './CreateObject.tsx';
import { hasEvents, typeOf } from './kind-events.ts';
import { hasActions, ObjectActions, ObjectDialog, type Opened } from './ObjectActions.tsx';
import { KINDS, type Kind } from './object-kinds.ts';
import styles from './SandboxPage.module.css';
import { summaryOf } from './summary.ts';
import { quoteState, useQuoteUses } from './use-quote-uses.ts';

const REFRESH_MS = 2_000;

export function SandboxPage() {
  const { environment, bank, can } = useWorkspace();
  const { filters, change } = useFilters();
  const [creating, setCreating] = useState(false);
  const [opened, setOpened] = useState<Opened>();
  const kind = KINDS.find(({ path }) => path === filters.kind) ?? (KINDS[0] as Kind);
  const { from, until } = timeRangeOf(filters);
  const isFiltered = TIME_FILTERS.some((name) => name in filters);
  const enabled = environment === 'sandbox' && bank !== undefined;
  const result = useList<SandboxObject>(
    `/${kind.path}`,
    { bank_guid: bank?.guid, created_at_gte: from, created_at_lt: until, after: filters.after },
    { refetchInterval: REFRESH_MS, enabled },
  );
  const quotes = kind.path === 'quotes' ? (result.data?.objects ?? []) : [];
  const used = useQuoteUses(quotes, REFRESH_MS);
  const now = useNow();
  const stateOf = (object: SandboxObject) =>
    kind.path === 'quotes' ? quoteState(object, used, now) : object.state;
  const header = (actions?: ReactNode) => (
    <PageHeader title="Sandbox" guide="sandbox-scenarios" actions={actions}>
      Create test objects. The simulator moves them through their states and creates events.
    </PageHeader>
  );
  if (!enabled)
    return (
      <>
        {header()}
        <Panel>
          {bank ? (
            <EmptyState icon="sandbox" title="This is a production bank">
              Select a sandbox bank at the top of the page to create objects.
            </EmptyState>
          ) : (
            <NoBank purpose="Test objects belong to a bank." />
          )}
        </Panel>
      </>
    );
  const canCreate = can(`${kind.path}:execute`);
  const create = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
      Create {kind.label.toLowerCase()}
    </Button>
  );
  return (
    <>
      {header(canCreate ? create : undefined)}
      <div className={styles.selection}>
        <Select
          className={styles.type}
          label="Object type"
          allowDeselect={false}
          data={KINDS.map(({ path, label }) => ({ value: path, label }))}
          value={kind.path}
          onChange={(path) => change({ kind: path ?? undefined })}
        />
        <div>
          <FilterBar names={TIME_FILTERS} beside={['kind']}>
            <TimeFilter label="Created" />
          </FilterBar>
        </div>
      </div>
      <Panel flush>
        <DataTable
          key={kind.path}
          result={result}
          label={kind.path.replaceAll('_', ' ')}
          keyOf={({ guid }) => guid}
          columns={columnsOf(kind, stateOf, setOpened)}
          empty={
            isFiltered ? (
              <EmptyState icon="search" title={`No ${kind.path.replaceAll('_', ' ')} match these filters`}>
                Extend the time range to see more.
              </EmptyState>
            ) : (
              <EmptyState
                icon="sandbox"
                title={`No ${kind.path.replaceAll('_', ' ')} of ${bank.name} yet`}
                action={canCreate ? create : undefined}
              >
                {canCreate ? invitationTo(kind) : 'You need the Developer role to create objects.'}
              </EmptyState>
            )
          }
        />
      </Panel>
      {creating ? <CreateObject kind={kind} onClose={() => setCreating(false)} /> : null}
      {opened ? <ObjectDialog opened={opened} onClose={() => setOpened(undefined)} /> : null}
    </>
  );
}

type StateOf = (object: SandboxObject) => string | undefined;
type Open = (opened: Opened) => void;

function columnsOf(kind: Kind, stateOf: StateOf, open: Open): Column<SandboxObject>[] {
  return [
    { title: kind.label, cell: ({ guid }) => <ObjectLink type={typeOf(kind)} guid={guid} /> },
    {
      title: 'Details',
      cell: (object) => (
        <Group gap={6}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {summaryOf(kind, object)}
          </Text>
          {((object.labels ?? []) as string[]).map((label) => (
            <Badge key={label} variant="default" radius="sm" size="sm" fw={500} tt="none">
              {label}
            </Badge>
          ))}
        </Group>
      ),
    },
    {
      title: 'State',
      cell: (object) => {
        const state = stateOf(object);
        return state === undefined ? <NoValue /> : <StateBadge state={state} />;
      },
    },
    { title: 'Updated', cell: ({ updated_at: at }) => <RelativeTime at={at} /> },
    ...(hasEvents(kind) ? [EVENTS] : []),
    ...(hasActions(kind) ? [actionsColumn(kind, stateOf, open)] : []),
  ];
}

function actionsColumn(kind: Kind, stateOf: StateOf, open: Open): Column<SandboxObject> {
  return {
    title: 'Actions',
    titleHidden: true,
    align: 'right',
    cell: (object) => <ObjectActions kind={kind} object={object} state={stateOf(object)} onOpen={open} />,
  };
}

const EVENTS: Column<SandboxObject> = {
  title: 'Events',
  titleHidden: true,
  align: 'right',
  cell: ({ guid }) => (
    <PageLink to="/events" search={{ object: guid, banks: 'all' }} size="sm" style={{ whiteSpace: 'nowrap' }}>
      View events
    </PageLink>
  ),
};

function invitationTo(kind: Kind): string {
  return hasEvents(kind) ? 'Create one to see its events.' : 'Objects of this type have no events.';
}
