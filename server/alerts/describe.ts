import { oneLine } from '../infrastructure/runtime/one-line.ts';
import type { Details } from './details.ts';
import { type AlertType, MAX_WAITING_THRESHOLD } from './kinds.ts';

/** One sentence without a full stop, and the cause or remedy. */
export type Description = { title: string; message: string };

type Context = { actorEmail?: string | undefined };
type Failing = Details['endpoint.failing'];
type Describe = { [Type in AlertType]: (details: Details[Type], context: Context) => Description };

const MINUTES_PER_HOUR = 60;
const MINUTES_PER_DAY = 24 * MINUTES_PER_HOUR;

const DESCRIBE: Describe = {
  'endpoint.failing': ({ name, host, failing_since: since, failing_minutes: minutes, ...symptoms }) => ({
    title: `Endpoint ${quoted(name)} has failed for ${durationOf(minutes)}`,
    message: [
      `${host} has not answered with 2xx since ${momentOf(since)}.`,
      ...(symptoms.last_error ? [`Last error: ${errorOf(symptoms.last_error)}.`] : []),
      waitingOf(symptoms),
      'After seven days the subscription fails.',
    ].join(' '),
  }),
  'endpoint.recovered': ({ name, host, failing_since: since, recovered_at: at }) => ({
    title: `Endpoint ${quoted(name)} has recovered`,
    message: `${host} answers again since ${momentOf(at)}. It had failed since ${momentOf(since)}. Waiting deliveries are being sent.`,
  }),
  'subscription.failed': ({ name, host, failing_since: since }) => ({
    title: `Subscription ${quoted(name)} has failed`,
    message: `${host} has not answered with 2xx ${since === undefined ? 'for seven days' : `since ${momentOf(since)}`}. It receives no more events: create a new subscription, then redeliver.`,
  }),
  'deliveries.waiting': ({ name, host, waiting, waiting_threshold: threshold }) => ({
    title: `${countOf(waiting)}${waiting > MAX_WAITING_THRESHOLD ? ' or more' : ''} deliveries wait for endpoint ${quoted(name)}`,
    message: `More than ${countOf(threshold)} deliveries wait for ${host}.`,
  }),
  'access.denied': ({ name, client_id: clientId, address, request_id: requestId }) => ({
    title: `Calls with key ${name === undefined ? clientId : quoted(name)} were denied by its IP allowlist`,
    message: `First call today from ${address ?? 'an unknown address'} (request ${requestId}). If the address is not yours, rotate the key: someone else has its token.`,
  }),
  'key.created': ({ name, ip_allowlist: allowlist, ...author }, context) => ({
    title: `Key ${quoted(name)} was created`,
    message: `Created by ${nameOf(author, context)}. IP allowlist: ${allowlistOf(allowlist)}.`,
  }),
  'key.widened': ({ name, added_scopes: scopes = [], ip_allowlist: allowlist, ...author }, context) => ({
    title: `Key ${quoted(name)} was given more access`,
    message: [
      `Changed by ${nameOf(author, context)}.`,
      ...(scopes.length > 0 ? [`New scopes: ${scopes.join(', ')}.`] : []),
      ...(allowlist ? [`IP allowlist now: ${allowlistOf(allowlist)}.`] : []),
    ].join(' '),
  }),
  'key.removed': ({ name, ...author }, context) => ({
    title: `Key ${quoted(name)} was removed`,
    message: `Removed by ${nameOf(author, context)}. Its tokens no longer work.`,
  }),
  'member.joined': ({ role, ...member }) => ({
    title: `${memberOf(member)} joined the team`,
    message: `Role: ${role.replace('_', ' ')}.`,
  }),
  'second_factor.removed': ({ factor, removed_by: by, ...member }) => ({
    title: by
      ? `The operator removed a second factor of ${memberOf(member)}`
      : `${memberOf(member)} removed a second factor`,
    message: `Removed: ${factor}. If you did not expect this, ask the member${by ? ' and the operator' : ''}.`,
  }),
  'file.infected': ({ file_guid: guid, file_type: type, customer_guid: customer }) => ({
    title: `An uploaded file is infected`,
    message: `File ${guid} (${type.replaceAll('_', ' ')}) of customer ${customer} was rejected by the virus scan and deleted.`,
  }),
};

export function describeAlert(
  { type, details }: { type: string; details: unknown },
  context: Context = {},
): Description {
  const describe = DESCRIBE[type as AlertType] as ((...args: unknown[]) => Description) | undefined;
  // A node of the next version may have raised a type that this one does not know.
  return describe?.(details, context) ?? { title: type, message: '' };
}

function memberOf({ member_guid: guid, email }: { member_guid: string; email?: string | undefined }): string {
  return email === undefined ? `Member ${guid}` : oneLine(email);
}

function quoted(name: string): string {
  return `"${oneLine(name)}"`;
}

const ERROR_NOUNS = { rejected: 'HTTP', timeout: 'timeout', unreachable: 'unreachable' } as const;

function errorOf({ kind, status, excerpt, reason }: NonNullable<Failing['last_error']>): string {
  const noun = status === undefined ? ERROR_NOUNS[kind] : `${ERROR_NOUNS[kind]} ${status}`;
  if (excerpt !== undefined) return `${noun} ("${excerpt}")`;
  return reason === undefined ? noun : `${noun} (${reason})`;
}

function waitingOf({
  waiting,
  waiting_is_minimum: isMinimum,
  next_attempt_at: next,
}: Partial<Failing>): string {
  if (!waiting) return 'Its deliveries wait and are retried.';
  const count = `${countOf(waiting)}${isMinimum ? ' or more' : ''} ${waiting === 1 ? 'delivery waits' : 'deliveries wait'}`;
  return next === undefined ? `${count}.` : `${count}, next attempt at ${momentOf(next)}.`;
}

function durationOf(minutes: number): string {
  const [count, unit] =
    minutes >= MINUTES_PER_DAY
      ? [minutes / MINUTES_PER_DAY, 'day']
      : minutes >= MINUTES_PER_HOUR
        ? [minutes / MINUTES_PER_HOUR, 'hour']
        : [minutes, 'minute'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function momentOf(text: string): string {
  return `${text.slice(0, 10)} ${text.slice(11, 16)} UTC`;
}

function countOf(count: number): string {
  return count.toLocaleString('en-US');
}

function allowlistOf(entries: readonly string[]): string {
  return entries.length === 0 ? 'any address' : entries.join(', ');
}

function nameOf(
  { actor_type: type, actor }: { actor_type: string; actor: string },
  { actorEmail }: Context,
): string {
  if (type === 'user') return actorEmail ?? `member ${actor}`;
  return type === 'application' ? `key ${actor}` : 'the operator';
}
