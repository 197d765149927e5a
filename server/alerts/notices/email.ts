import { oneLine } from '../../infrastructure/runtime/one-line.ts';
import type { Message } from '../../people/login/links/mail.ts';
import type { Description } from '../describe.ts';
import { kindOf } from '../kinds.ts';

export type DescribedAlert = Description & { guid: string; createdAt: Date; environment: string | undefined };

type Email = {
  to: string;
  organizationName: string;
  type: string;
  alerts: readonly DescribedAlert[];
  alertsUrl: string;
  unsubscribeUrl: string;
  /** Same for each attempt, so that mail programs recognise a repeated message. */
  messageId: string;
};

/** Alerts that one email or message describes; the rest is counted. */
const MAX_DESCRIBED = 20;

export function alertEmail(email: Email): Message {
  const { to, type, alerts, unsubscribeUrl, messageId } = email;
  const organization = oneLine(email.organizationName);
  const label = kindOf(type)?.label ?? type;
  const [only] = alerts;
  const what = alerts.length === 1 && only ? only.title : `${alerts.length} alerts: ${label}`;
  return {
    to,
    subject: `[${organization}] ${what}`,
    text: textOf({ ...email, label, organization }),
    html: htmlOf({ ...email, label, organization }),
    messageId,
    // RFC 8058: mail programs unsubscribe with a POST, without a visit of the page.
    headers: {
      'List-Unsubscribe': `<${unsubscribeUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'Auto-Submitted': 'auto-generated',
    },
  };
}

type Rendered = Email & { label: string; organization: string };

function footerOf({ label, organization }: Rendered): string {
  return `You get this because of your role in ${organization}. At most one email an hour is sent about "${label}"; later alerts follow in the next one.`;
}

function textOf(email: Rendered): string {
  const { alerts, alertsUrl, unsubscribeUrl } = email;
  return [
    ...shownOf(alerts).flatMap((alert) => [alert.title, alert.message, contextOf(alert), '']),
    ...earlierOf(alerts.length - MAX_DESCRIBED).flatMap((line) => [line, '']),
    'View alerts:',
    alertsUrl,
    '',
    '--',
    footerOf(email),
    'Unsubscribe:',
    unsubscribeUrl,
    '',
  ].join('\n');
}

const TEXT = 'font-family:system-ui,sans-serif;font-size:15px;line-height:1.5;color:#1a1b1e';
const DIMMED = 'font-size:13px;color:#5c636a';

function htmlOf(email: Rendered): string {
  const { alerts, alertsUrl, unsubscribeUrl } = email;
  const items = shownOf(alerts).map(
    (alert) =>
      `<p style="margin:0 0 20px"><strong>${escapeHtml(alert.title)}</strong><br>${escapeHtml(alert.message)}<br><span style="${DIMMED}">${escapeHtml(contextOf(alert))}</span></p>`,
  );
  const rest = earlierOf(alerts.length - MAX_DESCRIBED).map((line) => `<p>${escapeHtml(line)}</p>`);
  return [
    `<!doctype html><html lang="en"><body style="margin:0;padding:24px;${TEXT}"><div style="max-width:560px">`,
    ...items,
    ...rest,
    `<p><a href="${escapeHtml(alertsUrl)}">View alerts</a></p>`,
    `<hr style="border:0;border-top:1px solid #dee2e6"><p style="${DIMMED}">${escapeHtml(footerOf(email))}<br>`,
    `<a href="${escapeHtml(unsubscribeUrl)}">Unsubscribe</a></p></div></body></html>`,
  ].join('\n');
}

/** Newest first. */
export function shownOf(alerts: readonly DescribedAlert[]): readonly DescribedAlert[] {
  return alerts.slice(-MAX_DESCRIBED).reverse();
}

/** A line about alerts that are not described, if there are any. */
export function earlierOf(count: number): string[] {
  return count > 0 ? [`And ${count} earlier ${count === 1 ? 'alert' : 'alerts'} of this kind.`] : [];
}

export function contextOf({ createdAt, environment }: DescribedAlert): string {
  const at = `${createdAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return environment === undefined ? at : `${at}, ${environment}`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
