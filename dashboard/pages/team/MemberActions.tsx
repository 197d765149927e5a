import { ActionIcon, Tooltip } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Member } from '../../api/types.ts';
import { SESSION_KEY } from '../../session/session.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { ConfirmByName } from '../../shared/forms/ConfirmByName.tsx';
import { RowMenu } from '../../shared/table/RowMenu.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { ChangeRole } from './ChangeRole.tsx';

/** The last Founder cannot be changed or removed: nobody could manage the team any more. */
export function MemberActions({ member, isLastFounder }: { member: Member; isLastFounder: boolean }) {
  const { api, session } = useWorkspace();
  const queries = useQueryClient();
  const [doing, setDoing] = useState<'role' | 'remove'>();
  const close = () => setDoing(undefined);
  if (isLastFounder)
    return (
      <Tooltip label="The last Founder stays: make someone else one first">
        <ActionIcon
          variant="subtle"
          color="gray"
          data-disabled
          aria-label={`${member.email} is the last Founder`}
        >
          <Icon name="shield" size={16} />
        </ActionIcon>
      </Tooltip>
    );
  return (
    <>
      <RowMenu
        of={member.email}
        items={[{ label: 'Change role', icon: 'edit', onClick: () => setDoing('role') }]}
        danger={{ label: 'Remove', icon: 'trash', onClick: () => setDoing('remove') }}
      />
      {doing === 'role' ? <ChangeRole member={member} onClose={close} /> : null}
      {doing === 'remove' ? (
        <ConfirmByName
          title="Remove from the team"
          word={member.email}
          action="Remove"
          onClose={close}
          onConfirm={async () => {
            await api.remove(`/members/${member.guid}`);
            if (member.guid === session.member.guid)
              await queries.invalidateQueries({ queryKey: SESSION_KEY });
            else await queries.invalidateQueries({ queryKey: [api.key, '/members'] });
            notifySuccess(`${member.email} is removed.`);
          }}
        >
          They are out at once, wherever they are logged in. Keys that they generated go on working: rotate
          those that they may know.
        </ConfirmByName>
      ) : null}
    </>
  );
}
