import { Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { createContext, type ReactNode, use, useEffect, useState } from 'react';
import { Dialog } from './Dialog.tsx';
import { FormActions } from './FormActions.tsx';
import { isLeaving } from './use-navigation-guard.ts';

type IsChanged = () => boolean;

const GuardedForms = createContext<Set<IsChanged> | undefined>(undefined);

/** Asks once before the user leaves a page with changes of its forms that are not saved. */
export function LeaveGuard({ children }: { children: ReactNode }) {
  const [forms] = useState(() => new Set<IsChanged>());
  const isChanged = () => [...forms].some((isFormChanged) => isFormChanged());
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: (navigation) => isChanged() && isLeaving(navigation),
    enableBeforeUnload: isChanged,
    withResolver: true,
  });
  return (
    <GuardedForms value={forms}>
      {children}
      {status === 'idle' ? null : (
        <Dialog title="Discard your changes?" onClose={reset}>
          <Stack>
            <Text size="sm">You have changes on this page that are not saved.</Text>
            <FormActions danger action="Discard" onAction={proceed} cancel="Keep editing" onCancel={reset} />
          </Stack>
        </Dialog>
      )}
    </GuardedForms>
  );
}

/** For a form outside of a dialog. */
export function useLeaveGuard(isChanged: IsChanged): void {
  const forms = use(GuardedForms);
  useEffect(() => {
    forms?.add(isChanged);
    return () => void forms?.delete(isChanged);
  }, [forms, isChanged]);
}
