import { oneLine } from '../../../infrastructure/runtime/one-line.ts';
import type { Secret } from '../../../infrastructure/runtime/secret.ts';
import type { Message } from './mail.ts';

type Recipient = { to: string; link: Secret; expiresAt: Date; supportEmail: string };

export function invitationMessage({
  organizationName,
  ...recipient
}: Recipient & { organizationName: string }): Message {
  const team = oneLine(organizationName);
  return {
    to: recipient.to,
    subject: `Invitation to the team of ${team} on Portico`,
    text: bodyOf(recipient, `You have been invited to the team of ${team} on Portico. To accept, open:`),
  };
}

export function passwordResetMessage(recipient: Recipient): Message {
  return {
    to: recipient.to,
    subject: 'Set a new password',
    text: bodyOf(
      recipient,
      'A password reset was requested for this address on Portico. To set a new password, open:',
    ),
  };
}

function bodyOf({ link, expiresAt, supportEmail }: Recipient, opening: string): string {
  return [
    opening,
    '',
    link.reveal(),
    '',
    `The link works once and expires on ${expiresAt.toUTCString()}. Do not share it.`,
    '',
    `If you did not expect this message, ignore it. Questions? Write to ${supportEmail}.`,
    '',
  ].join('\n');
}
