import { Text } from '@mantine/core';
import type { PasswordReset } from '../../api/types.ts';
import { MailLink } from '../../shared/text/MailLink.tsx';

export const LINK_TITLES: Record<PasswordReset['link_by'], string> = {
  mail: 'Check your email',
  log: 'Check the server log',
  operator: 'Request sent to the operator',
};

/** Does not reveal whether the account exists. */
export function ResetLinkSent({ email, reset }: { email: string; reset: PasswordReset }) {
  return (
    <Text size="sm" ta="center">
      If <strong>{email}</strong> has an account, <Instructions {...reset} />
    </Text>
  );
}

function Instructions({ link_by: by, support_email: support }: PasswordReset) {
  if (by === 'mail') return 'we sent a link to set a new password. It works once and expires in 24 hours.';
  if (by === 'log')
    return 'the terminal of this demo shows a link to set a new password. It works once and expires in 24 hours.';
  return (
    <>
      the operator will send you a link, because this service sends no email. You can contact the operator at{' '}
      <MailLink to={support} />.
    </>
  );
}
