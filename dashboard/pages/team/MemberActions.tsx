import { ActionIcon, Tooltip } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Member } from '../../api/types.ts';
import { useRefreshSession } from '../../session/session.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { ConfirmByName } from '../../shared/forms/ConfirmByName.tsx';
import { RowMenu } from '../../shared/table/RowMenu.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { ChangeRole } from './ChangeRole.tsx';
import { InviteMember } from './InviteMember.tsx';

export function MemberActions({ member, isLastFounder }: { member: Member; isLastFounder: boolean }) {
  const { api, session } = useWorkspace();
  const queries = useQueryClient();
  const refreshSession = useRefreshSession();
  const [dialog, setDialog] = useState<'role' | 'remove' | 'invite'>();
  const close = () => setDialog(undefined);
  if (isLastFounder)
    return (
      <Tooltip label="An Organization needs at least one Founder. Make another member a Founder first.">
        <ActionIcon
          variant="subtle"
          color="gray"
          data-disabled
          aria-label={`${member.email} is the only Founder`}
        >
          <Icon name="shield" size={16} />
        </ActionIcon>
      </Tooltip>
    );
  return (
    <>
      <RowMenu
        name={member.email}
        items={[
          ...(member.state === 'invited'
            ? [{ label: 'Send invitation again', icon: 'send' as const, onClick: () => setDialog('invite') }]
            : []),
          { label: 'Change role', icon: 'edit', onClick: () => setDialog('role') },
        ]}
        danger={{ label: 'Remove', icon: 'trash', onClick: () => setDialog('remove') }}
      />
      {dialog === 'role' ? <ChangeRole member={member} onClose={close} /> : null}
      {dialog === 'invite' ? <InviteMember again={member} onClose={close} /> : null}
      {dialog === 'remove' ? (
        <ConfirmByName
          title="Remove member"
          name={member.email}
          action="Remove"
          onClose={close}
          onConfirm={async () => {
            await api.remove(`/members/${member.guid}`);
            if (member.guid === session.member.guid) await refreshSession();
            else await queries.invalidateQueries({ queryKey: [api.key, '/members'] });
            notifySuccess(`${member.email} was removed.`);
          }}
        >
          The member loses access immediately. Keys that the member generated keep working: rotate them if the
          member may know the secrets.
        </ConfirmByName>
      ) : null}
    </>
  );
}
