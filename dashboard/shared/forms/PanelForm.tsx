import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorAlert } from '../feedback/ErrorAlert.tsx';
import { useLeaveGuard } from './LeaveGuard.tsx';

/** The form of a settings panel, with its error and its button. */
export function PanelForm({
  isChanged,
  readOnly = false,
  save,
  children,
}: {
  isChanged: boolean;
  /** For roles that may only see the settings. */
  readOnly?: boolean;
  save: { mutate: () => void; isPending: boolean; error: unknown };
  children: ReactNode;
}) {
  useLeaveGuard(() => isChanged);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack>
        {children}
        {save.error ? <ErrorAlert error={save.error} /> : null}
        {readOnly ? null : (
          <Group justify="flex-end">
            <Button type="submit" variant="default" disabled={!isChanged} loading={save.isPending}>
              Save
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}
