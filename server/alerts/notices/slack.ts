import { oneLine } from '../../infrastructure/runtime/one-line.ts';
import { version } from '../../infrastructure/runtime/version.ts';
import type { Transport } from '../../webhooks/deliveries/sending/transport.ts';
import type { SlackTarget } from '../settings/settings.ts';
import { contextOf, type DescribedAlert, MAX_DESCRIBED } from './email.ts';

/** `gone`: the URL was withdrawn, so that a retry is pointless. */
export type SlackOutcome =
  | { kind: 'posted' }
  | { kind: 'failed'; reason: string; gone: boolean; retryAfterMs: number | undefined };

const HEADERS = { 'content-type': 'application/json', 'user-agent': `Portico-Alerts/${version}` };
/** Slack answers these for a URL that was removed, or whose app or channel was. */
const GONE: readonly number[] = [403, 404, 410];

/** The format of Slack's incoming webhooks, which Mattermost, Rocket.Chat and Discord (`/slack`) accept too. */
export async function postToSlack(
  transport: Transport,
  { url, allowPrivate }: SlackTarget,
  text: string,
): Promise<SlackOutcome> {
  const body = JSON.stringify({ text });
  const answer = await transport.post({ url: url.reveal(), headers: HEADERS, body, allowPrivate });
  if (answer.kind !== 'answered')
    return { kind: 'failed', reason: answer.reason, gone: false, retryAfterMs: undefined };
  const { status, retryAfter } = answer;
  if (status >= 200 && status < 300) return { kind: 'posted' };
  const retryAfterMs = Number(retryAfter) > 0 ? Number(retryAfter) * 1_000 : undefined;
  return { kind: 'failed', reason: `answered ${status}`, gone: GONE.includes(status), retryAfterMs };
}

export function slackText(organizationName: string, alerts: readonly DescribedAlert[], url: string): string {
  const shown = alerts.slice(-MAX_DESCRIBED);
  const rest = alerts.length - shown.length;
  return [
    ...shown.map(
      (alert) =>
        `*${escapeMarkup(alert.title)}*\n${escapeMarkup(alert.message)}\n_${escapeMarkup(contextOf(alert))}_`,
    ),
    ...(rest > 0 ? [`And ${rest} earlier alerts of this kind.`] : []),
    `${escapeMarkup(oneLine(organizationName))} · <${url}|View alerts>`,
  ].join('\n\n');
}

/** Mattermost, Rocket.Chat and Discord notify everyone of a channel for these, also in plain text. */
const MENTION = /@(?=(?:all|channel|everyone|here)\b)/gi;
const ZERO_WIDTH_SPACE = '\u200b';

/** The three characters that Slack interprets, and mentions of everyone. */
export function escapeMarkup(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(MENTION, `@${ZERO_WIDTH_SPACE}`);
}
