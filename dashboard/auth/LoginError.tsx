import { Alert } from '@mantine/core';
import { ApiError, hasCode } from '../api/api-error.ts';
import { Icon } from '../shared/text/Icon.tsx';

/** Does not reveal whether the email address has an account. */
export function LoginError({ error }: { error: unknown }) {
  return (
    <Alert color="red" variant="light" icon={<Icon name="warning" />} role="alert">
      {messageFor(error)}
    </Alert>
  );
}

function messageFor(error: unknown): string {
  if (hasCode(error, 'authentication_failed')) return 'Email or password is incorrect.';
  if (hasCode(error, 'totp_invalid'))
    return 'The code is incorrect or was already used. Enter the next code.';
  if (hasCode(error, 'rate_limit_exceeded')) {
    const minutes = Math.ceil((error.retryAfterSeconds ?? 60) / 60);
    return `Too many attempts. Try again in ${minutes === 1 ? '1 minute' : `${minutes} minutes`}.`;
  }
  if (error instanceof ApiError) return error.message;
  return 'The passkey request was cancelled or failed. Try again, or log in with your password.';
}
