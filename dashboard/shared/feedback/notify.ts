import { notifications } from '@mantine/notifications';
import { ApiError } from '../../api/api-error.ts';

const closeButtonProps = { 'aria-label': 'Dismiss' };
export const UNEXPECTED_ERROR = 'An unexpected error occurred on this page.';

export function notifySuccess(message: string): void {
  notifications.show({ closeButtonProps, message, color: 'teal', autoClose: 4_000 });
}

/** The id keeps repeated attempts from stacking up notifications. */
export function notifyBlocked(message: string): void {
  notifications.show({ closeButtonProps, id: message, message, color: 'blue', autoClose: 6_000 });
}

/** For actions without a form that could show the error. The title says what failed. */
export function notifyFailure(title: string): (error: unknown) => void {
  return (error) => {
    const message = error instanceof ApiError ? error.message : UNEXPECTED_ERROR;
    notifications.show({ closeButtonProps, title, message, color: 'red', autoClose: 8_000 });
  };
}
