import { PorticoError } from '../../../sdk/src/errors.ts';
import type { Command, Context } from '../command.ts';
import { CliError, describeError, EXIT } from '../failure.ts';
import {
  EVENT_TYPE,
  field,
  type Item,
  printList,
  printObject,
  RESULT,
  say,
  timeField,
} from '../output/print.ts';
import { countOf, eventTypesOf, guidOf, guidOption, momentOption } from '../values.ts';

const MAX_LISTED = 1_000;
const DEFAULT_LISTED = '20';
const READ = 'subscription_events:read';
const EXECUTE = 'subscription_events:execute';

export const LIMIT = { value: 'count', description: `how many, at most ${MAX_LISTED} (${DEFAULT_LISTED})` };
export const TYPE = {
  value: 'types',
  description: 'only these event types, separated by commas; transfer.* matches several',
};
export const SINCE = { value: 'time', description: 'created since: a duration such as 1h, or a date-time' };

export function limitOf({ options }: Context): number {
  return countOf('limit', options.text('limit') ?? DEFAULT_LISTED, MAX_LISTED);
}

/** A full list may have more; on a terminal this is said. */
export function sayIfFull(context: Context, items: readonly unknown[]): void {
  const limit = limitOf(context);
  if (context.io.stdout.isTTY && items.length === limit && limit < MAX_LISTED)
    say(context, `These are the newest ${limit}; --limit shows more.`);
}

export function typesOf({ options }: Context): string[] | undefined {
  const types = eventTypesOf('type', options.texts('type'));
  return types.length === 0 ? undefined : types;
}

export function listOf(text: string | undefined): string[] | undefined {
  return text?.split(/[\s,]+/).filter(Boolean);
}

const listEvents: Command = {
  name: 'events list',
  summary: 'List the events of your Organization, newest first.',
  options: {
    type: TYPE,
    object: { value: 'guid', description: 'events of this object' },
    since: SINCE,
    limit: LIMIT,
  },
  needsOrganizationKey: true,
  examples: [
    'portico events list --type transfer.failed --since 24h',
    'portico events list --limit 100 --json',
  ],
  async run(context) {
    const { withScopes } = await context.session();
    const filters = {
      event_type: typesOf(context),
      object_guid: guidOption(context, 'object'),
      created_at_gte: momentOption(context, 'since'),
    };
    const events = await withScopes(READ)
      .subscriptionEvents.list(filters, { signal: context.io.signal })
      .toArray({ limit: limitOf(context) });
    printList(
      context,
      events,
      [timeField('Created at'), EVENT_TYPE, field('Guid'), field('Object guid')],
      'No events match.',
    );
    sayIfFull(context, events);
  },
};

const showEvent: Command = {
  name: 'events show',
  summary: 'Show an event and its deliveries.',
  positionals: ['guid'],
  needsOrganizationKey: true,
  examples: ['portico events show 0199e5a4c1b27d3e8f60a1b2c3d4e5f6'],
  async run(context) {
    const { io, options, positionals } = context;
    const guid = guidOf('GUID', positionals[0] ?? '');
    const { withScopes } = await context.session();
    const portico = withScopes(READ);
    const event = await portico.subscriptionEvents.get(guid, { signal: io.signal });
    const deliveries = await portico.subscriptionDeliveries
      .list({ subscription_event_guid: guid }, { signal: io.signal })
      .toArray({ limit: MAX_LISTED });
    if (options.flag('json')) return printObject(context, { ...event, deliveries });
    printObject(context, event);
    io.stdout.write('\n');
    printList(
      context,
      deliveries as Item[],
      [
        field('State'),
        field('Tries', 'attempt_count'),
        RESULT,
        field('Delivery', 'guid'),
        field('Subscription', 'subscription_guid'),
      ],
      'No subscription received it.',
    );
  },
};

/** The subscription, and why it does not get the event. */
type Refusal = { guid: string; error: PorticoError };

const resendEvent: Command = {
  name: 'events resend',
  summary: 'Send an event again to your subscriptions (at least one is needed). Listeners receive it too.',
  positionals: ['guid'],
  options: { subscription: { value: 'guid', description: 'only to this subscription' } },
  needsOrganizationKey: true,
  examples: [
    'portico events resend 0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
    'portico events resend 0199e5a4… --subscription 0199e5b0…',
  ],
  async run(context) {
    const { io, positionals } = context;
    const guid = guidOf('GUID', positionals[0] ?? '');
    const { profile, withScopes } = await context.session();
    const portico = withScopes(EXECUTE);
    const wanted = guidOption(context, 'subscription');
    const targets = wanted === undefined ? await targetsOf(context) : [wanted];
    if (targets.length === 0)
      throw new CliError(
        `A resend needs a subscription, and you have none in ${profile.environment} that can receive it.\nTo replay events to your machine, run portico listen --since 1h.`,
        EXIT.notFound,
      );
    const deliveries: Item[] = [];
    const refusals: Refusal[] = [];
    for (const subscription_guid of targets)
      try {
        const body = { subscription_event_guid: guid, subscription_guid };
        deliveries.push(await portico.subscriptionDeliveries.create(body, { signal: io.signal }));
      } catch (error) {
        if (!(error instanceof PorticoError)) throw error;
        refusals.push({ guid: subscription_guid, error });
      }
    const [refusal] = refusals;
    if (refusal && deliveries.length === 0) throw refusal.error;
    say(
      context,
      `Sent again to ${deliveries.length} ${deliveries.length === 1 ? 'subscription' : 'subscriptions'}.`,
    );
    printList(
      context,
      deliveries,
      [field('Delivery', 'guid'), field('Subscription', 'subscription_guid'), field('State')],
      '',
    );
    if (refusal) throw notSent(refusals);
  },
};

function notSent(refusals: readonly Refusal[]): CliError {
  const reasons = refusals.map(({ guid, error }) => `${guid}: ${describeError(error).message}`);
  const [first] = refusals;
  return new CliError(
    `Not sent to ${refusals.length} of your subscriptions:\n${reasons.join('\n')}`,
    describeError(first?.error).exitCode,
  );
}

/** Subscriptions of the environment that can receive redeliveries. */
async function targetsOf({ io, session }: Context): Promise<string[]> {
  const { profile, withScopes } = await session();
  const { data } = await withScopes(READ).request('GET /api/subscription_targets', { signal: io.signal });
  return data.objects
    .filter(({ environment }) => environment === profile.environment)
    .map(({ subscription_guid }) => subscription_guid);
}

export const eventCommands = [listEvents, showEvent, resendEvent];
