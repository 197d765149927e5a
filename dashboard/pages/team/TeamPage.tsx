import { Badge, Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ROLE_LABELS } from '../../api/permissions.ts';
import type { Member } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { type Column, DataTable } from '../../shared/table/DataTable.tsx';
import { ShowAll } from '../../shared/table/ShowAll.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { Icon } from '../../shared/text/Icon.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { InviteMember } from './InviteMember.tsx';
import { MemberActions } from './MemberActions.tsx';
import { MemberState } from './MemberState.tsx';
import { useTeam } from './team.ts';

/** Limit of the server. */
const MAX_MEMBERS = 200;

export function TeamPage() {
  const { can, organization, session } = useWorkspace();
  const { filters } = useFilters();
  const [inviting, setInviting] = useState(false);
  const result = useList<Member>('/members', { after: filters.after }, { only: filters.guid });
  const canManage = can('members:write');
  const own = session.member.guid;
  const team = useTeam(canManage);
  const isFull = team !== undefined && team.size >= MAX_MEMBERS;
  const columns: Column<Member>[] = [
    {
      title: 'Member',
      cell: ({ guid, name, email }) => (
        <Stack gap={0} miw={0}>
          <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
            {name ?? email}{' '}
            {guid === own ? (
              <Badge variant="default" size="xs" tt="none" radius="sm">
                You
              </Badge>
            ) : null}
          </Text>
          {name ? (
            <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {email}
            </Text>
          ) : null}
        </Stack>
      ),
    },
    { title: 'Role', cell: (member) => <Text size="sm">{ROLE_LABELS[member.role]}</Text> },
    { title: 'State', cell: (member) => <MemberState member={member} /> },
    { title: 'Last seen', cell: ({ last_seen_at: at }) => <RelativeTime at={at} /> },
    ...(canManage
      ? [
          {
            title: 'Actions',
            titleHidden: true,
            align: 'right' as const,
            cell: (member: Member) =>
              team ? (
                <MemberActions
                  member={member}
                  isLastFounder={team.founders.length === 1 && team.founders[0] === member.guid}
                />
              ) : null,
          },
        ]
      : []),
  ];
  return (
    <Stack gap="lg">
      <PageHeader
        title="Team"
        guide="authentication#roles-of-people"
        spaced={false}
        actions={
          canManage && !isFull ? (
            <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setInviting(true)}>
              Invite member
            </Button>
          ) : undefined
        }
      >
        Members of {organization.name} and their roles.
        {canManage ? null : ' You need the Founder role to manage members.'}
        {canManage && isFull
          ? ` ${MAX_MEMBERS} of ${MAX_MEMBERS} members. Remove a member to invite another.`
          : null}
      </PageHeader>
      <Panel flush>
        <DataTable
          result={result}
          label="Members"
          keyOf={({ guid }) => guid}
          columns={columns}
          toolbar={<ShowAll filter="guid" label="Show all members" />}
          empty={
            filters.guid === undefined ? (
              <EmptyState icon="team" title="No members on this page">
                Go back to the newest members.
              </EmptyState>
            ) : (
              <EmptyState
                icon="search"
                title="No member with this ID"
                action={<ShowAll filter="guid" label="Show all members" />}
              >
                The member was removed from {organization.name}.
              </EmptyState>
            )
          }
        />
      </Panel>
      {inviting ? <InviteMember onClose={() => setInviting(false)} /> : null}
    </Stack>
  );
}
