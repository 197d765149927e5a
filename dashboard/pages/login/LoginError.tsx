import { Alert } from '@mantine/core';
import { ApiError, hasCode } from '../../api/api-error.ts';
import { Icon } from '../../shared/text/Icon.tsx';

/** Says no more than the service does: not whether the address is known. */
export function LoginError({ error }: { error: unknown }) {
  return (
    <Alert color="red" variant="light" icon={<Icon name="warning" />} role="alert">
      {wordsOf(error)}
    </Alert>
  );
}

function wordsOf(error: unknown): string {
  if (hasCode(error, 'authentication_failed')) return 'That did not match. Check both and try again.';
  if (hasCode(error, 'totp_invalid'))
    return 'That code is not right, or was used already. Wait for the next one.';
  if (hasCode(error, 'rate_limit_exceeded')) {
    const minutes = Math.ceil((error.retryAfterSeconds ?? 60) / 60);
    return `Too many tries. Wait ${minutes === 1 ? 'a minute' : `${minutes} minutes`} and try again.`;
  }
  if (error instanceof ApiError) return error.message;
  return 'The passkey was not used. Try again, or log in with your password.';
}
