import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Application } from '../../api/types.ts';
import { ConfirmTyped } from '../../shared/ConfirmTyped.tsx';
import { tell } from '../../shared/notify.ts';
import { RowMenu } from '../../shared/RowMenu.tsx';
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
      <RowMenu
        of={application.name}
        items={[
          { label: 'Edit', icon: 'edit', onClick: () => setDoing('edit') },
          { label: 'Rotate', icon: 'refresh', onClick: () => setDoing('rotate') },
        ]}
        danger={{ label: 'Remove', icon: 'trash', onClick: () => setDoing('remove') }}
      />
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
