import { Alert } from '@mantine/core';
import { Dialog } from '../forms/Dialog.tsx';
import { Icon } from '../text/Icon.tsx';

/** In place of a part of the page whose script could not be loaded. Browsers do not request a failed script again. */
export function NotLoaded() {
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<Icon name="warning" />}
      title="Could not load this part of the page"
      role="alert"
    >
      Check your connection and reload the page.
    </Alert>
  );
}

export function DialogNotLoaded({ title, onClose }: { title: string; onClose: () => void }) {
  return (
    <Dialog title={title} onClose={onClose}>
      <NotLoaded />
    </Dialog>
  );
}
