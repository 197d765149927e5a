import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Subscription } from '../../api/types.ts';
import { Icon } from '../../shared/text/Icon.tsx';
import { RedeliverFailedDialog } from './RedeliverFailedDialog.tsx';

/** Everything that failed since a moment, once more; of one subscription, or of one to choose. */
export function RedeliverFailedButton({ subscription }: { subscription?: Subscription }) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="refresh" size={16} />}
        onClick={() => setOpened(true)}
      >
        Recover
      </Button>
      {opened ? <RedeliverFailedDialog subscription={subscription} onClose={() => setOpened(false)} /> : null}
    </>
  );
}
