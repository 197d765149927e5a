import { Button, Group } from '@mantine/core';
import { useNavigationGuard } from '../../session/freeze.ts';
import { ErrorAlert } from '../feedback/ErrorAlert.tsx';

/** How forms end: why it was refused, the way back, the way on. Once it is sent there is no way back. */
export function FormActions({
  action,
  onAction,
  cancel = 'Cancel',
  onCancel,
  pending = false,
  error,
  disabled = false,
  danger = false,
  faint = false,
}: {
  action: string;
  /** Without it the button sends the form that it stands in. */
  onAction?: () => void;
  cancel?: string;
  onCancel: () => void;
  pending?: boolean;
  error?: unknown;
  disabled?: boolean;
  danger?: boolean;
  /** Possible, but not yet what one should do. */
  faint?: boolean;
}) {
  useNavigationGuard(pending, 'This is being done. Wait for the answer before you leave.');
  return (
    <>
      {error ? <ErrorAlert error={error} /> : null}
      <Group justify="flex-end">
        <Button variant="default" disabled={pending} onClick={onCancel}>
          {cancel}
        </Button>
        <Button
          variant={faint ? 'light' : 'filled'}
          disabled={disabled}
          loading={pending}
          {...(danger ? { color: 'red' } : {})}
          {...(onAction ? { onClick: () => onAction() } : { type: 'submit' })}
        >
          {action}
        </Button>
      </Group>
    </>
  );
}
