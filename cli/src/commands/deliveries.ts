import type { Portico } from '../../../sdk/src/index.ts';
import type { Command, Context } from '../command.ts';
import { CliError, EXIT, UsageError } from '../failure.ts';
import {
  createLines,
  EVENT_TYPE,
  field,
  type Item,
  printList,
  printObject,
  RESULT,
  say,
  timeField,
} from '../output/print.ts';
import { withProgress } from '../output/progress.ts';
import { forgetOldest, poll, untilInterrupted } from '../polling.ts';
import { guidOf, guidOption, momentOption } from '../values.ts';
import { LIMIT, limitOf, listOf, SINCE, sayIfFull, TYPE, typesOf } from './events.ts';

type Job = Awaited<ReturnType<Portico['subscriptionRecoveries']['get']>>;

const STATES = ['storing', 'failing', 'completed', 'failed'];
const KINDS = ['failed', 'waiting', 'all'];
const WATCH_EVERY_MS = 2_000;
const PROGRESS_EVERY_MS = 500;
/** Enough to recognize what has been printed while the list changes. */
const MAX_REMEMBERED = 10_000;
/** Deliveries that have left the list, in one request: the largest page. */
const MAX_ASKED = 100;

const COLUMNS = [
  { ...timeField('Updated at'), width: 20 },
  { ...field('State'), width: 9 },
  EVENT_TYPE,
  { ...field('Tries', 'attempt_count'), width: 5 },
  { ...RESULT, width: 11 },
  { ...field('Delivery', 'guid'), width: 32 },
  { ...field('Subscription', 'subscription_guid'), width: 32 },
];

async function readDeliveries(context: Context, portico: Portico): Promise<Item[]> {
  const filters = {
    state: listOf(context.options.text('state')),
    event_type: typesOf(context),
    subscription_guid: guidOption(context, 'subscription'),
    created_at_gte: momentOption(context, 'since'),
  };
  return portico.subscriptionDeliveries
    .list(filters, { signal: context.io.signal })
    .toArray({ limit: limitOf(context) });
}

/**
 * Each call prints the deliveries whose state or number of attempts has changed, also those that have left the wanted
 * states.
 */
export function createWatch(context: Context, portico: Portico): () => Promise<undefined> {
  /** The version that was printed last; the delivery that was read the longest time ago is the first. */
  const printed = new Map<unknown, string>();
  const printLine = createLines(context, COLUMNS);
  function print(delivery: Item): void {
    const version = `${delivery.state} ${delivery.attempt_count}`;
    const isNew = printed.get(delivery.guid) !== version;
    printed.delete(delivery.guid);
    printed.set(delivery.guid, version);
    if (isNew) printLine(delivery);
  }
  return async function printChanges(): Promise<undefined> {
    const found = await readDeliveries(context, portico);
    const guids = new Set(found.map(({ guid }) => guid));
    const left = [...printed].filter(([guid]) => !guids.has(guid));
    // A finished delivery does not change any more.
    for (const [guid, version] of left) if (/^(completed|failed)/.test(version)) printed.delete(guid);
    const asked = left
      .map(([guid]) => guid as string)
      .filter((guid) => printed.has(guid))
      .slice(0, MAX_ASKED);
    if (asked.length > 0) {
      const changed = await portico.subscriptionDeliveries
        .list({ guid: asked }, { signal: context.io.signal })
        .toArray({ limit: MAX_ASKED });
      const known = new Set(changed.map(({ guid }) => guid));
      for (const guid of asked) if (!known.has(guid)) printed.delete(guid);
      for (const delivery of changed.reverse()) print(delivery);
    }
    for (const delivery of found.reverse()) print(delivery);
    forgetOldest(printed, MAX_REMEMBERED);
  };
}

const listDeliveries: Command = {
  name: 'deliveries list',
  summary: 'List deliveries, newest first.',
  options: {
    state: {
      value: 'states',
      values: STATES,
      description: `${STATES.join(', ')}, or several separated by commas`,
    },
    type: TYPE,
    subscription: { value: 'guid', description: 'deliveries to this subscription' },
    since: SINCE,
    limit: LIMIT,
    watch: { description: 'go on and print deliveries that change, until Ctrl-C' },
  },
  needsOrganizationKey: true,
  examples: [
    'portico deliveries list --state failing',
    'portico deliveries list --state failing,failed --watch',
  ],
  async run(context) {
    const { withScopes } = await context.session();
    const portico = withScopes('subscription_events:read');
    if (context.options.flag('watch')) {
      const printChanges = createWatch(context, portico);
      return untilInterrupted(context, () => poll(context, WATCH_EVERY_MS, printChanges));
    }
    const deliveries = await readDeliveries(context, portico);
    printList(context, deliveries, COLUMNS, 'No deliveries match.');
    sayIfFull(context, deliveries);
  },
};

const ATTEMPT_COLUMNS = [
  field('Attempt', 'number'),
  timeField('Attempted at'),
  field('Outcome'),
  field('Status', 'response_status'),
  field('Ms', 'duration_ms'),
  { title: 'Detail', value: ({ reason, response_excerpt }: Item) => reason ?? response_excerpt },
];

const showDelivery: Command = {
  name: 'deliveries show',
  summary: 'Show a delivery and its attempts: when, how your endpoint answered, and why one failed.',
  positionals: ['guid'],
  needsOrganizationKey: true,
  examples: ['portico deliveries show 0199e5b1c1b27d3e8f60a1b2c3d4e5f6'],
  async run(context) {
    const { io, options, positionals } = context;
    const guid = guidOf('GUID', positionals[0] ?? '');
    const { withScopes } = await context.session();
    const delivery = await withScopes('subscription_events:read').subscriptionDeliveries.get(guid, {
      signal: io.signal,
    });
    if (options.flag('json')) return printObject(context, delivery);
    const { attempts, ...shown } = delivery;
    printObject(context, shown);
    io.stdout.write('\n');
    printList(context, attempts, ATTEMPT_COLUMNS, 'There was no attempt yet.');
  },
};

const redeliver: Command = {
  name: 'redeliver',
  summary: 'Send the deliveries of a time range again to a subscription, and show the progress.',
  options: {
    subscription: { value: 'guid', description: 'the subscription (required)' },
    since: { value: 'time', description: 'beginning (required): a duration such as 1h, or a date-time' },
    until: { value: 'time', description: 'end; now by default' },
    kind: {
      value: 'kind',
      values: KINDS,
      description: 'failed (default): failed deliveries; waiting: retry now; all: every event',
    },
    'no-wait': { description: 'return at once; the service goes on' },
  },
  needsOrganizationKey: true,
  examples: [
    'portico redeliver --subscription 0199e5b0… --since 2h --kind waiting',
    'portico redeliver --subscription 0199e5b0… --since 2026-11-15T00:00:00Z --kind all',
  ],
  async run(context) {
    const { io, options } = context;
    const subscription_guid = guidOption(context, 'subscription');
    const [since, until] = ['since', 'until'].map((name) => momentOption(context, name)?.toISOString());
    if (subscription_guid === undefined || since === undefined)
      throw new UsageError('--subscription and --since are required. See portico redeliver --help.');
    const kind = options.text('kind') ?? 'failed';
    if (!KINDS.includes(kind)) throw new UsageError(`--kind must be one of ${KINDS.join(', ')}.`);
    const { withScopes } = await context.session();
    const portico = withScopes('subscription_events:execute');
    let job = await portico.subscriptionRecoveries.create(
      { subscription_guid, kind: kind as 'failed', since, ...(until && { until }) },
      { signal: io.signal },
    );
    if (!options.flag('no-wait'))
      try {
        await withProgress(context, String, (show) =>
          poll(context, PROGRESS_EVERY_MS, async () => {
            show(job.done, job.total);
            if (job.state !== 'running') return true;
            job = await portico.subscriptionRecoveries.get(job.guid, { signal: io.signal });
            return false;
          }),
        );
      } catch (error) {
        say(context, `The service goes on with the redelivery ${job.guid}.`);
        throw error;
      }
    printObject(context, job);
    if (job.state === 'failed' || job.state === 'cancelled')
      throw new CliError(
        `The redelivery has ${job.state === 'failed' ? 'failed' : 'been cancelled'}.`,
        EXIT.failure,
      );
    if (job.redelivered === 0 && job.state === 'completed')
      say(context, await describeNothing(withScopes('subscription_events:read'), job, io.signal));
  },
};

/** After an outage most deliveries have not failed: they wait for their next attempt. */
async function describeNothing(
  portico: Portico,
  { kind, subscription_guid, since, until }: Job,
  signal: AbortSignal,
): Promise<string> {
  const nothing = 'There was nothing to redeliver.';
  if (kind !== 'failed') return nothing;
  // The redelivery is complete, so a key pair that may not count is no error.
  const counts = await portico.subscriptionRecoveryPreviews
    .get(subscription_guid, { since, until, signal })
    .catch(() => undefined);
  if (!counts?.waiting) return nothing;
  return `${nothing} Deliveries that have not failed: ${counts.waiting}. --kind waiting sends them now.`;
}

export const deliveryCommands = [listDeliveries, showDelivery, redeliver];
