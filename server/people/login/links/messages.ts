import type { Secret } from '../../../infrastructure/runtime/secret.ts';
import type { Message } from './mail.ts';

/** What people are written to. Plain text: there is nothing to look at but the link. */
type Addressed = { to: string; link: Secret; expiresAt: Date; supportEmail: string };

export function invitationMessage({
  organizationName,
  ...addressed
}: Addressed & { organizationName: string }): Message {
  const team = oneLine(organizationName);
  return {
    to: addressed.to,
    subject: `You are invited to the team of ${team}`,
    text: bodyOf(addressed, `You have been invited to the team of ${team} on Portico. To accept, open:`),
  };
}

export function passwordResetMessage(addressed: Addressed): Message {
  return {
    to: addressed.to,
    subject: 'Set a new password',
    text: bodyOf(
      addressed,
      'Somebody, hopefully you, asked for a new password for this address on Portico. To set one, open:',
    ),
  };
}

function bodyOf({ link, expiresAt, supportEmail }: Addressed, opening: string): string {
  return [
    opening,
    '',
    link.reveal(),
    '',
    `The link is good once, until ${expiresAt.toUTCString()}. Do not pass it on.`,
    '',
    `If you did not expect this, do nothing; questions go to ${supportEmail}.`,
    '',
  ].join('\n');
}

/** A name comes from a partner: it may not bring lines of its own. */
function oneLine(name: string): string {
  return name.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim();
}
