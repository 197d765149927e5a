import type { Portico } from '../../../sdk/src/index.ts';
import type { Command, Context } from '../command.ts';
import { UsageError } from '../failure.ts';
import { follow } from '../listen/follow.ts';
import { bodyOf, forward, type Outcome, type StreamedEvent } from '../listen/forward.ts';
import { createPosition, localSigningKey } from '../listen/state.ts';
import { columnsOf } from '../output/layout.ts';
import { printObject, say } from '../output/print.ts';
import { printable, printableJson, styleFor, styleOfStatus } from '../output/style.ts';
import { poll, untilInterrupted } from '../polling.ts';
import { claimsOf } from '../session.ts';
import { eventTypesOf, momentOption } from '../values.ts';
import { TYPE } from './events.ts';

const TIME_WIDTH = 8;
const TYPE_WIDTH = 31;
/** With the result. On a narrower terminal the guid has a line of its own. */
const LINE_WIDTH = 100;
const ASK_EVERY_MS = 500;

function targetOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const address = /^\d+$/.test(text) ? `http://localhost:${text}` : text;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.port === '0')
    throw new UsageError('--forward-to must be a URL such as http://localhost:3000/hooks, or a port.');
  return url.href;
}

/** Another spelling of the URL has another position, so that a run may begin elsewhere than expected. */
function startOf({ lastEventId, since }: { lastEventId?: string | undefined; since?: Date | undefined }) {
  if (lastEventId) return 'from where the last run ended';
  return since ? `since ${since.toISOString()}` : 'from now on';
}

function printEvent(context: Context, event: StreamedEvent, outcome: Outcome | undefined): void {
  const { io, options } = context;
  if (options.flag('json'))
    return void io.stdout.write(
      `${printableJson({ ...event, ...(outcome && { forwarded: forwardedOf(outcome) }) })}\n`,
    );
  const style = styleFor(io.stdout, io);
  const time = style.dim(new Date(io.now()).toTimeString().slice(0, TIME_WIDTH));
  const type = printable(event.event_type).padEnd(TYPE_WIDTH);
  const guid = printable(event.guid);
  const mark = event.resend ? '  (resent)' : '';
  const result = outcome ? `  → ${describe(outcome, style)}` : '';
  const isNarrow = io.stdout.isTTY && columnsOf(io.stdout) < LINE_WIDTH;
  io.stdout.write(
    isNarrow
      ? `${time}  ${type}${result}${mark}\n${' '.repeat(TIME_WIDTH)}  ${style.dim(guid)}\n`
      : `${time}  ${type}  ${guid}${result}${mark}\n`,
  );
  if (options.flag('print-json')) io.stdout.write(`${printableJson(JSON.parse(bodyOf(event)))}\n`);
}

function forwardedOf({ status, durationMs, problem }: Outcome) {
  return { ...(status !== undefined && { status }), duration_ms: durationMs, ...(problem && { problem }) };
}

function describe({ status, durationMs, problem }: Outcome, style: ReturnType<typeof styleFor>): string {
  const paint = status === undefined ? style.red : styleOfStatus(style, status);
  return `${paint(printable(String(status ?? problem)))}  ${durationMs} ms`;
}

function printKey(context: Context, key: string): void {
  if (context.options.flag('json')) printObject(context, { signing_key: key });
  else context.io.stdout.write(`${key}\n`);
}

/** Of the key pair; waits for a service that is away. */
async function organizationOf(context: Context, portico: Portico): Promise<string> {
  let organization = '';
  await poll(context, ASK_EVERY_MS, async () => {
    const token = await portico.token({ signal: context.io.signal });
    organization = claimsOf(token).organization_guid ?? '';
    return true;
  });
  return organization;
}

export const listen: Command = {
  name: 'listen',
  summary: 'Forward the events of your Organization to a URL on your machine, without a subscription.',
  options: {
    'forward-to': {
      value: 'url',
      description: 'post each event to this URL, signed like a webhook; or a port',
    },
    events: { ...TYPE, multiple: true },
    since: { value: 'time', description: 'replay from then on: a duration such as 1h, or a date-time' },
    'from-now': { description: 'begin with new events, not where the last run ended' },
    'skip-verify': { description: 'accept any TLS certificate of the URL, such as a self-signed one' },
    'print-json': { description: 'also print the body of each event' },
    'print-key': { description: 'print the local signing key, and end' },
  },
  needsOrganizationKey: true,
  examples: [
    'portico listen --forward-to http://localhost:3000/hooks',
    'portico listen --forward-to 3000 --events transfer.completed,transfer.failed --since 1h',
    'portico listen --json',
    'export SIGNING_KEY=$(portico listen --print-key)',
  ],
  async run(context) {
    const { io, options } = context;
    const target = targetOf(options.text('forward-to'));
    const types = eventTypesOf('events', options.texts('events'));
    const since = momentOption(context, 'since');
    if (since && options.flag('from-now'))
      throw new UsageError('--since and --from-now exclude each other. See portico listen --help.');
    const { profile, withScopes } = await context.session();
    const signingKey = await localSigningKey(io, profile);
    if (options.flag('print-key')) return printKey(context, signingKey);
    if (target) say(context, `Forwarding to ${target}\nSigning key: ${signingKey}`);
    const portico = withScopes('subscription_events:read');
    await untilInterrupted(context, async () => {
      const organization = await organizationOf(context, portico);
      const position = createPosition(io, profile, { organization, target: target ?? '', types });
      const lastEventId = since || options.flag('from-now') ? undefined : await position.read();
      let isInterrupted = false;
      await follow(
        portico,
        { lastEventId, since },
        {
          types,
          signal: io.signal,
          keep: position.write,
          onConnected(isFirst) {
            const start = startOf({ lastEventId, since });
            if (isFirst) say(context, `Listening in ${profile.environment}, ${start}. Stop with Ctrl-C.`);
            else if (isInterrupted) say(context, 'Connected again; nothing was missed.');
            isInterrupted = false;
          },
          onInterrupted(reason) {
            // A stream ends with its token, which needs no message.
            if (!isInterrupted && reason !== 'the service closed the stream')
              say(context, `Interrupted (${reason}); connecting again …`);
            isInterrupted ||= reason !== 'the service closed the stream';
          },
          async onEvent(event) {
            const outcome = target
              ? await forward(event, {
                  ...{ target, signingKey, now: io.now, signal: io.signal },
                  skipVerify: options.flag('skip-verify'),
                  onWaiting: (problem) => say(context, `${target}: ${problem}; waiting for it …`),
                })
              : undefined;
            printEvent(context, event, outcome);
          },
        },
      );
    });
  },
};
