import { ActionIcon, Menu } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Application } from '../../api/types.ts';
import { ConfirmTyped } from '../../shared/ConfirmTyped.tsx';
import { Icon } from '../../shared/Icon.tsx';
import { tell } from '../../shared/notify.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { EditKey } from './EditKey.tsx';
import { type KeyKind, listKeyOf, useKeyCalls } from './kinds.ts';
import { RotateKey } from './RotateKey.tsx';

export function KeyActions({ kind, application }: { kind: KeyKind; application: Application }) {
  const [doing, setDoing] = useState<'edit' | 'rotate' | 'remove'>();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const calls = useKeyCalls(kind);
  const close = () => setDoing(undefined);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${application.name}`}>
            <Icon name="dots" size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="edit" size={15} />} onClick={() => setDoing('edit')}>
            Edit
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="refresh" size={15} />} onClick={() => setDoing('rotate')}>
            Rotate
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            color="red"
            leftSection={<Icon name="trash" size={15} />}
            onClick={() => setDoing('remove')}
          >
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {doing === 'edit' ? <EditKey kind={kind} application={application} onClose={close} /> : null}
      {doing === 'rotate' ? <RotateKey kind={kind} application={application} onClose={close} /> : null}
      {doing === 'remove' ? (
        <ConfirmTyped
          title="Remove this key pair"
          word={application.name}
          action="Remove the key"
          onClose={close}
          onConfirm={async () => {
            await calls.remove(application.client_id);
            await queries.invalidateQueries({ queryKey: listKeyOf(workspace, calls) });
            tell(`${application.name} is removed, and its tokens are dead.`);
          }}
        >
          Every token of this key stops working at once, customer tokens included. This cannot be undone. If
          it is still in use, rotate it instead.
        </ConfirmTyped>
      ) : null}
    </>
  );
}
