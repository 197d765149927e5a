import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Subscription } from '../../../api/types.ts';
import { Icon } from '../../../shared/text/Icon.tsx';
import { RedeliverDialog } from './RedeliverDialog.tsx';

export function RedeliverButton({ subscription }: { subscription?: Subscription }) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="refresh" size={16} />}
        onClick={() => setOpened(true)}
      >
        Redeliver events
      </Button>
      {opened ? <RedeliverDialog subscription={subscription} onClose={() => setOpened(false)} /> : null}
    </>
  );
}
