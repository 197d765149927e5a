import { Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { Dialog } from './Dialog.tsx';
import { FormActions } from './FormActions.tsx';
import { isLeaving } from './use-navigation-guard.ts';

/** For a form outside of a dialog: asks before the user leaves the page with changes that are not saved. */
export function LeaveGuard({ isChanged }: { isChanged: () => boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: (navigation) => isChanged() && isLeaving(navigation),
    enableBeforeUnload: isChanged,
    withResolver: true,
  });
  if (status === 'idle') return null;
  return (
    <Dialog title="Discard your changes?" onClose={reset}>
      <Stack>
        <Text size="sm">You have changes on this page that are not saved.</Text>
        <FormActions danger action="Discard" onAction={proceed} cancel="Keep editing" onCancel={reset} />
      </Stack>
    </Dialog>
  );
}
