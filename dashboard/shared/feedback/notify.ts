import { notifications } from '@mantine/notifications';
import { ApiError } from '../../api/api-error.ts';

const closeButtonProps = { 'aria-label': 'Dismiss' };

export function notifySuccess(message: string): void {
  notifications.show({ closeButtonProps, message, color: 'teal', autoClose: 4_000 });
}

/** Why one cannot leave now. Told once, however often one tries. */
export function notifyBlocked(why: string): void {
  notifications.show({ closeButtonProps, id: why, message: why, color: 'blue', autoClose: 6_000 });
}

/** For actions without a form of their own to show it in. */
export function notifyError(error: unknown): void {
  const message = error instanceof ApiError ? error.message : 'Something unexpected happened in this page.';
  notifications.show({
    closeButtonProps,
    title: 'That did not work',
    message,
    color: 'red',
    autoClose: 8_000,
  });
}
