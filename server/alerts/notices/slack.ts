import { oneLine } from '../../infrastructure/runtime/one-line.ts';
import { version } from '../../infrastructure/runtime/version.ts';
import type { Transport } from '../../webhooks/deliveries/sending/transport.ts';
import type { SlackTarget } from '../settings/settings.ts';
import { contextOf, type DescribedAlert, earlierOf, shownOf } from './email.ts';

/** `gone`: the URL was withdrawn, so that a retry is pointless. */
export type SlackOutcome =
  | { kind: 'posted' }
  | { kind: 'failed'; reason: string; gone: boolean; retryAfterMs: number | undefined };

const HEADERS = { 'content-type': 'application/json', 'user-agent': `Portico-Alerts/${version}` };
/** Slack answers these for a URL that was removed, or whose app or channel was. */
const GONE: readonly number[] = [403, 404, 410];
/** Discord refuses a message of more than 2,000 characters. */
const MAX_TEXT_CHARACTERS = 1_900;
/** Of a title, a context or a name. */
const MAX_LINE_CHARACTERS = 300;
const GAP = '\n\n';
/** More than the line that counts the rest, and its gaps. */
const REST_CHARACTERS = 50;

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

/** The newest alerts, oldest first: as many as fit; the rest is counted. */
export function slackText(organizationName: string, alerts: readonly DescribedAlert[], url: string): string {
  const footer = `${cut(escapeMarkup(oneLine(organizationName)), MAX_LINE_CHARACTERS)} · <${url}|View alerts>`;
  let left = MAX_TEXT_CHARACTERS - footer.length - REST_CHARACTERS;
  const shown: string[] = [];
  for (const alert of shownOf(alerts)) {
    const paragraph = paragraphOf(alert, left);
    if (!paragraph || (shown.length > 0 && paragraph.isCut)) break;
    left -= paragraph.text.length + GAP.length;
    shown.unshift(paragraph.text);
  }
  return [...shown, ...earlierOf(alerts.length - shown.length), footer].join(GAP);
}

function paragraphOf(alert: DescribedAlert, characters: number) {
  const title = `*${cut(escapeMarkup(alert.title), MAX_LINE_CHARACTERS)}*`;
  const context = `_${cut(escapeMarkup(contextOf(alert)), MAX_LINE_CHARACTERS)}_`;
  const left = characters - title.length - context.length - 2;
  if (left < 0) return undefined;
  const message = escapeMarkup(alert.message);
  const text = [title, cut(message, left), context].join('\n');
  return { text, isCut: message.length > left };
}

/** Shortens escaped text, without a part of an escaped or a surrogate pair at its end. */
function cut(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return `${text
    .slice(0, Math.max(0, characters - 1))
    .replace(/&[a-z]*$/, '')
    .replace(/[\uD800-\uDBFF]$/, '')}…`;
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
