import { ActionIcon, Tooltip } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Member } from '../../api/types.ts';
import { ConfirmTyped } from '../../shared/ConfirmTyped.tsx';
import { Icon } from '../../shared/Icon.tsx';
import { tell } from '../../shared/notify.ts';
import { RowMenu } from '../../shared/RowMenu.tsx';
import { SESSION_KEY } from '../../shell/session.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';
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
        <ConfirmTyped
          title="Remove from the team"
          word={member.email}
          action="Remove"
          onClose={close}
          onConfirm={async () => {
            await api.remove(`/members/${member.guid}`);
            if (member.guid === session.member.guid)
              await queries.invalidateQueries({ queryKey: SESSION_KEY });
            else await queries.invalidateQueries({ queryKey: [api.key, '/members'] });
            tell(`${member.email} is removed.`);
          }}
        >
          They are out at once, wherever they are logged in. Keys that they generated go on working: rotate
          those that they may know.
        </ConfirmTyped>
      ) : null}
    </>
  );
}
