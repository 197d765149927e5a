import { Text } from '@mantine/core';
import type { PasswordReset } from '../../api/types.ts';
import { MailLink } from '../../shared/page/MailLink.tsx';

export const LINK_TITLES: Record<PasswordReset['link_by'], string> = {
  mail: 'Look into your mail',
  log: 'Look into the log',
  operator: 'The operator is told',
};

/** How the link comes, if there is an account: that one is not told. */
export function ResetLinkSent({ email, reset }: { email: string; reset: PasswordReset }) {
  return (
    <Text size="sm" ta="center">
      If there is an account for <strong>{email}</strong>, <Way {...reset} />
    </Text>
  );
}

function Way({ link_by: by, support_email: support }: PasswordReset) {
  if (by === 'mail') return 'a link to set a new password is on its way. It works once, for 24 hours.';
  if (by === 'log')
    return 'the terminal that this demo runs in shows a link to set a new password. It works once, for 24 hours.';
  return (
    <>
      whoever runs this service is told that you ask. It sends no mail, so they hand you the link themselves.
      You can reach them at <MailLink to={support} />.
    </>
  );
}
