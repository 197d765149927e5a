import { setTimeout as delay } from 'node:timers/promises';
import type { Portico } from '../../../sdk/src/index.ts';
import type { Command, Context } from '../command.ts';
import { CliError, EXIT, UsageError } from '../failure.ts';
import { field, type Item, printLine, printList, printObject, say } from '../output/print.ts';
import { createProgress } from '../output/progress.ts';
import { guidOf, momentOf } from '../values.ts';
import { LIMIT, limitOf, listOf, present, SINCE, sinceOf } from './events.ts';

const STATES = ['storing', 'failing', 'completed', 'failed'];
const KINDS = ['failed', 'waiting', 'all'];
const WATCH_EVERY_MS = 2_000;
const PROGRESS_EVERY_MS = 500;
/** Enough to recognize what has been printed while the list changes. */
const MAX_REMEMBERED = 10_000;

const COLUMNS = [
  { ...field('Updated at'), width: 24 },
  { ...field('State'), width: 9 },
  { ...field('Event type'), width: 34 },
  { ...field('Delivery', 'guid'), width: 32 },
  { ...field('Subscription', 'subscription_guid'), width: 32 },
  { ...field('Attempts', 'attempt_count'), width: 8 },
  { ...field('Status', 'response_status'), width: 6 },
];

async function readDeliveries(context: Context, portico: Portico): Promise<Item[]> {
  const { io, options } = context;
  const subscription = options.text('subscription');
  const filters = present({
    state: listOf(options.text('state')),
    event_type: listOf(options.text('type')),
    subscription_guid: subscription === undefined ? undefined : guidOf('--subscription', subscription),
    ...sinceOf(context),
  });
  return portico.subscriptionDeliveries
    .list(filters, { signal: io.signal })
    .toArray({ limit: limitOf(context) });
}

/** Prints a delivery whenever its state or number of attempts has changed. */
async function watch(context: Context, portico: Portico): Promise<void> {
  const { signal } = context.io;
  const printed = new Map<unknown, string>();
  while (!signal.aborted) {
    for (const delivery of (await readDeliveries(context, portico)).reverse()) {
      const version = `${delivery.state} ${delivery.attempt_count}`;
      if (printed.get(delivery.guid) === version) continue;
      printed.delete(delivery.guid);
      printed.set(delivery.guid, version);
      printLine(context, delivery, COLUMNS);
    }
    for (const guid of printed.keys()) {
      if (printed.size <= MAX_REMEMBERED) break;
      printed.delete(guid);
    }
    await delay(WATCH_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
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
    type: { value: 'types', description: 'event types, separated by commas' },
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
      await watch(context, portico).catch((error) => {
        if (!context.io.signal.aborted) throw error;
      });
      return;
    }
    printList(context, await readDeliveries(context, portico), COLUMNS, 'No deliveries match.');
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
    'portico redeliver --subscription 0199e5b0… --since 2h',
    'portico redeliver --subscription 0199e5b0… --since 2026-11-15T00:00:00Z --kind all',
  ],
  async run(context) {
    const { io, options } = context;
    const [subscription, since, until] = ['subscription', 'since', 'until'].map((name) => options.text(name));
    if (subscription === undefined || since === undefined)
      throw new UsageError('--subscription and --since are required. See portico redeliver --help.');
    const kind = options.text('kind') ?? 'failed';
    if (!KINDS.includes(kind)) throw new UsageError(`--kind must be one of ${KINDS.join(', ')}.`);
    const { withScopes } = await context.session();
    const portico = withScopes('subscription_events:execute');
    let job = await portico.subscriptionRecoveries.create(
      {
        subscription_guid: guidOf('--subscription', subscription),
        kind: kind as 'failed',
        since: momentOf('since', since, io.now()).toISOString(),
        ...(until === undefined ? {} : { until: momentOf('until', until, io.now()).toISOString() }),
      },
      { signal: io.signal },
    );
    const progress = createProgress(context);
    while (job.state === 'running' && !options.flag('no-wait')) {
      progress.show(job.done, job.total);
      await delay(PROGRESS_EVERY_MS, undefined, { signal: io.signal });
      job = await portico.subscriptionRecoveries.get(job.guid, { signal: io.signal });
    }
    progress.show(job.done, job.total);
    progress.end();
    printObject(context, job);
    if (job.state === 'failed' || job.state === 'cancelled')
      throw new CliError(
        `The redelivery has ${job.state === 'failed' ? 'failed' : 'been cancelled'}.`,
        EXIT.failure,
      );
    if (job.redelivered === 0 && job.state === 'completed') say(context, 'There was nothing to redeliver.');
  },
};

const testSubscription: Command = {
  name: 'subscriptions test',
  summary: 'Send a test event to the endpoint of a subscription, and show how it answered.',
  positionals: ['guid'],
  needsOrganizationKey: true,
  examples: ['portico subscriptions test 0199e5b0c1b27d3e8f60a1b2c3d4e5f6'],
  async run(context) {
    const { io, positionals } = context;
    const guid = guidOf('GUID', positionals[0] ?? '');
    const { withScopes } = await context.session();
    const portico = withScopes('subscription_events:execute');
    const { data } = await portico.request('POST /api/subscriptions/{guid}/test_event', {
      path: { guid },
      signal: io.signal,
    });
    let delivery: Item = data;
    for (let tries = 0; tries < TEST_TRIES && delivery.attempt_count === 0; tries++) {
      await delay(PROGRESS_EVERY_MS, undefined, { signal: io.signal });
      delivery = await portico.subscriptionDeliveries.get(String(delivery.guid), { signal: io.signal });
    }
    const { attempts, request_body, ...shown } = delivery;
    printObject(context, shown);
    if (delivery.state !== 'completed')
      throw new CliError('The endpoint has not answered with 2xx; it is tried again.', EXIT.unmet);
  },
};

/** An endpoint has 10 seconds to answer. */
const TEST_TRIES = 24;

export const deliveryCommands = [listDeliveries, redeliver, testSubscription];
