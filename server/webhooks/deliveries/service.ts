import type { Static } from 'typebox';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import { EVENT_TYPES } from '../events/catalogue.ts';
import type { Events } from '../events/service.ts';
import type { Subscriptions } from '../subscriptions/service.ts';
import type { DeliverOnce } from './redelivery/deliver-once.ts';
import { findDeliveringEndpoint } from './redelivery/targets.ts';
import type { DeliveryWithState, NewDelivery } from './schema.ts';
import { deliveryStates, stateOf } from './state.ts';
import * as store from './store.ts';

export type Deliveries = ReturnType<typeof createDeliveries>;
export type DetailedDelivery = DeliveryWithState & { attempts: store.Attempt[] };
/** As they come in, before anybody has looked whether such states and types exist. */
export type RequestedFilters = Omit<store.DeliveryFilters, 'state'> & {
  state?: readonly string[] | undefined;
};

const KNOWN_TYPES: ReadonlySet<string> = new Set(EVENT_TYPES);
/** One that is retried for a week has about a thousand. */
const MAX_ATTEMPTS_SHOWN = 100;
const DAY_MS = 24 * 3_600_000;
/** History goes by whole weeks, so some of it stays that much longer. */
const PARTITION_DAYS = 7;

type Deps = {
  database: Database;
  clock: Clock;
  events: Events;
  subscriptions: Subscriptions;
  deliverOnce: DeliverOnce;
  retentionDays: number;
};

/** What became of each event at each subscription, and sending it once more. */
export function createDeliveries({
  database,
  clock,
  events,
  subscriptions,
  deliverOnce,
  retentionDays,
}: Deps) {
  const { queries } = database;

  /** Those that deliveries can be of: a subscription that went before the retention has none left. */
  async function subscriptionsOf(
    visible: store.Visible,
    filters: store.DeliveryFilters = {},
  ): Promise<string[]> {
    const guids = await subscriptions.guidsOf({
      organizationGuid: visible.organizationGuid,
      environments: (['production', 'sandbox'] as const).filter((name) => isAsked(visible, filters, name)),
      goneAfter: new Date(clock.now().getTime() - (retentionDays + PARTITION_DAYS) * DAY_MS),
    });
    const { subscriptionGuid: asked } = filters;
    return asked ? guids.filter((guid) => asked.includes(guid)) : guids;
  }

  async function select(
    visible: store.Visible,
    page: Page,
    filters: store.DeliveryFilters,
    now: Date,
  ): Promise<PageOf<store.Delivery>> {
    const subscriptionGuids = await subscriptionsOf(visible, filters);
    if (subscriptionGuids.length === 0) return { rows: [], total: 0, next: undefined };
    const owned = { visible, subscriptionGuids };
    if (filters.guid || filters.eventGuid)
      return store.selectNamed(database.lists, owned, page, filters, now);
    return database.lists
      .transaction()
      .execute((transaction) => store.selectDeliveries(transaction, owned, page, filters, now));
  }

  /** Deliveries that wait for the first 2xx of their endpoint have no next attempt that could be named. */
  async function show(rows: readonly store.Delivery[], now: Date): Promise<DeliveryWithState[]> {
    const waiting = rows.flatMap((row) => (row.due_at ? row.subscription_guid : []));
    const firsts = await subscriptions.firstDeliveriesOf([...new Set(waiting)]);
    return rows.map((row) => {
      const first = firsts.get(row.subscription_guid);
      const waits = first !== undefined && first !== row.guid;
      return { ...row, due_at: waits ? null : row.due_at, state: stateOf(row, now) };
    });
  }

  return {
    async list(
      visible: store.Visible,
      page: Page,
      { state, ...filters }: RequestedFilters,
    ): Promise<PageOf<DeliveryWithState> | Failure> {
      const states = deliveryStates(state);
      if (isFailure(states)) return states;
      const unknownType = filters.eventType?.find((name) => !KNOWN_TYPES.has(name));
      if (unknownType !== undefined)
        return new Failure('invalid_parameter', `event_type ${unknownType} is not a type of event`);
      const now = clock.now();
      const found = await select(visible, page, { ...filters, state: states }, now);
      return { ...found, rows: await show(found.rows, now) };
    },

    async get(visible: store.Visible, guid: string): Promise<DetailedDelivery | Failure> {
      const subscriptionGuids = await subscriptionsOf(visible);
      const delivery = await store.selectDelivery(queries, { visible, subscriptionGuids }, guid);
      if (!delivery) return new Failure('not_found', 'There is no such delivery');
      const attempts = await store.selectAttempts(queries, guid, MAX_ATTEMPTS_SHOWN);
      const [shown] = await show([delivery], clock.now());
      return {
        ...(shown as DeliveryWithState),
        attempts: attempts.length > 0 ? attempts : soleAttemptOf(delivery),
      };
    },

    /** A new cycle of attempts, whatever became of the ones before. */
    async restart(
      actor: Actor,
      visible: store.Visible,
      { subscription_event_guid, subscription_guid }: Static<typeof NewDelivery>,
    ): Promise<DeliveryWithState | Failure> {
      const event = await events.get(visible, subscription_event_guid);
      if (isFailure(event)) return new Failure('not_found', 'subscription_event_guid does not name an event');
      const { organizationGuid } = visible;
      // Of the environment of the event: to any other subscription it says nothing.
      const whose = { organizationGuid, environment: event.environment };
      const endpoint = await findDeliveringEndpoint(subscriptions, whose, subscription_guid);
      if (isFailure(endpoint)) return endpoint;
      return database.transaction((transaction) =>
        deliverOnce(transaction, actor, 'subscription_delivery.create', endpoint, event),
      );
    },
  };
}

function isAsked(visible: store.Visible, filters: store.DeliveryFilters, name: EnvironmentName): boolean {
  return name === (visible.environment ?? name) && (filters.environment?.includes(name) ?? true);
}

/** A first attempt that succeeds has no record of its own: the delivery tells all of it. */
function soleAttemptOf(delivery: store.Delivery): store.Attempt[] {
  const { completed_at: completedAt, response_time_ms: durationMs } = delivery;
  if (completedAt === null) return [];
  const duration_ms = durationMs ?? 0;
  return [
    {
      delivery_guid: delivery.guid,
      number: delivery.attempt_count,
      attempted_at: new Date(completedAt.getTime() - duration_ms),
      duration_ms,
      outcome: 'completed',
      response_status: delivery.response_status,
      response_excerpt: delivery.response_excerpt,
      reason: null,
    },
  ];
}
