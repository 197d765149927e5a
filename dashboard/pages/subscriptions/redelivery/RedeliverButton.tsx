import { Button } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../../shared/text/Icon.tsx';
import { RedeliverDialog } from './RedeliverDialog.tsx';
import type { NamedSubscription } from './RedeliverForm.tsx';

export function RedeliverButton({ subscription }: { subscription?: NamedSubscription }) {
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
