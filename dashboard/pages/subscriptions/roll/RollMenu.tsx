import { useState } from 'react';
import type { Subscription } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { RowMenu } from '../../../shared/table/RowMenu.tsx';
import { GiveUpRoll } from './GiveUpRoll.tsx';
import { RollSigningKey } from './RollSigningKey.tsx';
import { type Roll, useRoll } from './use-roll.ts';

/** Continues or gives up the roll of a row. */
export function RollMenu({ subscription }: { subscription: Subscription }) {
  const { can } = useWorkspace();
  const roll = useRoll(subscription);
  const [dialog, setDialog] = useState<{ type: 'continue' | 'give up'; roll: Roll }>();
  const close = () => setDialog(undefined);
  return (
    <>
      {roll && can('subscriptions:execute') ? (
        <RowMenu
          name={subscription.name}
          items={[
            {
              label: 'Continue roll',
              icon: 'refresh',
              onClick: () => setDialog({ type: 'continue', roll }),
            },
          ]}
          danger={{
            label: 'Give up roll',
            icon: 'trash',
            onClick: () => setDialog({ type: 'give up', roll }),
          }}
        />
      ) : null}
      {dialog?.type === 'continue' ? (
        <RollSigningKey
          subscription={dialog.roll.old}
          replacement={dialog.roll.replacement}
          onClose={close}
        />
      ) : null}
      {dialog?.type === 'give up' ? <GiveUpRoll roll={dialog.roll} onClose={close} /> : null}
    </>
  );
}
