import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Subscription } from '../../../api/types.ts';
import { GiveUpRoll } from './GiveUpRoll.tsx';
import { RollSigningKey } from './RollSigningKey.tsx';
import { type Roll, useRoll } from './use-roll.ts';

/** Begins a roll of the signing key, or continues or gives up the one in progress. */
export function RollActions({ subscription }: { subscription: Subscription }) {
  const roll = useRoll(subscription);
  // The dialog keeps its roll: the list changes while its secret is shown.
  const [dialog, setDialog] = useState<{ type: 'roll' | 'give up'; roll: Roll | undefined }>();
  const close = () => setDialog(undefined);
  return (
    <>
      <Button variant="default" onClick={() => setDialog({ type: 'roll', roll })}>
        {roll ? 'Continue roll' : 'Roll signing key'}
      </Button>
      {roll ? (
        <Button variant="default" onClick={() => setDialog({ type: 'give up', roll })}>
          Give up roll
        </Button>
      ) : null}
      {dialog?.type === 'roll' ? (
        <RollSigningKey
          subscription={dialog.roll?.old ?? subscription}
          replacement={dialog.roll?.replacement}
          onClose={close}
        />
      ) : null}
      {dialog?.type === 'give up' && dialog.roll ? <GiveUpRoll roll={dialog.roll} onClose={close} /> : null}
    </>
  );
}
