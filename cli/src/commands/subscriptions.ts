import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '../command.ts';
import { CliError, EXIT } from '../failure.ts';
import { field, type Item, printList, printObject } from '../output/print.ts';
import { guidOf } from '../values.ts';
import { LIMIT, limitOf } from './events.ts';

const ASK_EVERY_MS = 500;
/** An endpoint has 10 seconds to answer. */
const TEST_TRIES = 24;

const listSubscriptions: Command = {
  name: 'subscriptions list',
  summary: 'List the subscriptions with their guid, health and waiting deliveries.',
  options: { limit: LIMIT },
  needsOrganizationKey: true,
  examples: ['portico subscriptions list', 'portico subscriptions list --json'],
  async run(context) {
    const { withScopes } = await context.session();
    const subscriptions = await withScopes('subscription_events:read')
      .endpointHealth.list({}, { signal: context.io.signal })
      .toArray({ limit: limitOf(context) });
    printList(
      context,
      subscriptions,
      [
        field('Subscription', 'subscription_guid'),
        ...[field('State'), field('Health'), field('Waiting'), field('Name'), field('Host')],
      ],
      'There are no subscriptions. Create one in the dashboard: portico open.',
    );
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
      await delay(ASK_EVERY_MS, undefined, { signal: io.signal });
      delivery = await portico.subscriptionDeliveries.get(String(delivery.guid), { signal: io.signal });
    }
    const { attempts = [], request_body, ...shown } = delivery;
    const { reason, response_excerpt } = Object((attempts as Item[]).at(-1)) as Item;
    printObject(context, { ...shown, reason, response_excerpt });
    if (delivery.state !== 'completed')
      throw new CliError('The endpoint has not answered with 2xx; it is tried again.', EXIT.unmet);
  },
};

export const subscriptionCommands = [listSubscriptions, testSubscription];
