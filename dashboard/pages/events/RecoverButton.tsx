import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Subscription } from '../../api/types.ts';
import { Icon } from '../../shared/Icon.tsx';
import { Recover } from './Recover.tsx';

/** Everything that failed since a moment, once more; of one subscription, or of one to choose. */
export function RecoverButton({ subscription }: { subscription?: Subscription }) {
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
      {opened ? <Recover subscription={subscription} onClose={() => setOpened(false)} /> : null}
    </>
  );
}
