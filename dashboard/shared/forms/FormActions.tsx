import { Button, Group } from '@mantine/core';
import { ErrorAlert } from '../feedback/ErrorAlert.tsx';
import { keepFocus } from './keep-focus.ts';
import { useNavigationGuard } from './use-navigation-guard.ts';

/** The error and buttons of a form. While it is pending, cancelling and navigation are blocked. */
export function FormActions({
  action,
  onAction,
  cancel = 'Cancel',
  onCancel,
  pending = false,
  error,
  disabled = false,
  danger = false,
  secondary = false,
}: {
  action: string;
  /** Without it the button submits the form. */
  onAction?: () => void;
  cancel?: string;
  onCancel: () => void;
  pending?: boolean;
  error?: unknown;
  disabled?: boolean;
  danger?: boolean;
  /** Renders the action button less prominently. */
  secondary?: boolean;
}) {
  useNavigationGuard(pending, 'Your request is still running. Wait for it to finish before you leave.');
  return (
    <>
      {error ? <ErrorAlert error={error} /> : null}
      <Group justify="flex-end">
        <Button variant="default" disabled={pending} onMouseDown={keepFocus} onClick={onCancel}>
          {cancel}
        </Button>
        <Button
          variant={secondary ? 'light' : 'filled'}
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
