import type { Static } from 'typebox';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import { maxAgeMs } from '../../infrastructure/database/partitions/periods.ts';
import { knownValues } from '../../infrastructure/http/requests/filters.ts';
import { type RecordAnswer, recordNothing } from '../../infrastructure/idempotency/record-answer.ts';
import { type Clock, later } from '../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Events } from '../events/service.ts';
import type { Subscriptions } from '../subscriptions/service.ts';
import { type Visible, visibleEnvironments } from '../visible.ts';
import { type RequestRights, requestBodyOf } from './attempts/attempt-request.ts';
import { createAttempts, type SignedRequest } from './attempts/attempts.ts';
import type { DeliverOnce } from './redelivery/deliver-once.ts';
import { findDeliveringEndpoint } from './redelivery/delivering-endpoints.ts';
import type { NewDelivery } from './schema.ts';
import {
  DELIVERY_STATES,
  type DeliveryWithState,
  type DetailedDelivery,
  type StoredDelivery,
  stateOf,
} from './state.ts';
import * as store from './store.ts';

export type Deliveries = ReturnType<typeof createDeliveries>;
/** Filters with state names that are not validated yet. */
export type RequestedFilters = Omit<store.DeliveryFilters, 'state'> & {
  state?: readonly string[] | undefined;
};

type Deps = {
  database: Database;
  clock: Clock;
  events: Events;
  subscriptions: Subscriptions;
  deliverOnce: DeliverOnce;
  retentionDays: number;
};

export function createDeliveries({
  database,
  clock,
  events,
  subscriptions,
  deliverOnce,
  retentionDays,
}: Deps) {
  const { queries } = database;
  const attempts = createAttempts({ queries, clock, subscriptions });

  /** Excludes subscriptions deleted so long ago that no delivery is left. */
  async function subscriptionsOf(visible: Visible, filters: store.DeliveryFilters = {}): Promise<string[]> {
    const guids = await subscriptions.guidsOf({
      organizationGuid: visible.organizationGuid,
      environments: visibleEnvironments(visible, filters.environment),
      deletedAfter: later(clock.now(), -maxAgeMs(retentionDays)),
    });
    const { subscriptionGuid: wanted } = filters;
    return wanted ? guids.filter((guid) => wanted.includes(guid)) : guids;
  }

  async function select(
    visible: Visible,
    page: Page,
    filters: store.DeliveryFilters,
    now: Date,
  ): Promise<PageOf<StoredDelivery>> {
    const subscriptionGuids = await subscriptionsOf(visible, filters);
    if (subscriptionGuids.length === 0) return { rows: [], total: 0, next: undefined };
    const owned = { visible, subscriptionGuids };
    if (filters.guid || filters.eventGuid)
      return store.selectNamed(database.lists, owned, page, filters, now);
    return database.lists
      .transaction()
      .execute((transaction) => store.selectDeliveries(transaction, owned, page, filters, now));
  }

  /** Deliveries that wait for the first 2xx of their endpoint or the end of a pause have no known next attempt. */
  async function withStates(rows: readonly StoredDelivery[], now: Date): Promise<DeliveryWithState[]> {
    const waiting = rows.flatMap((row) => (row.due_at ? row.subscription_guid : []));
    const isHeld = await subscriptions.heldDeliveriesOf([...new Set(waiting)]);
    return rows.map((row) => ({
      ...row,
      due_at: isHeld(row) ? null : row.due_at,
      state: stateOf(row, now),
    }));
  }

  async function find(visible: Visible, guid: string): Promise<StoredDelivery | Failure> {
    const subscriptionGuids = await subscriptionsOf(visible);
    const delivery = await store.selectDelivery(queries, { visible, subscriptionGuids }, guid);
    return delivery ?? new Failure('not_found', 'There is no such delivery');
  }

  return {
    subscriptionsOf,

    async list(
      visible: Visible,
      page: Page,
      { state, ...filters }: RequestedFilters,
    ): Promise<PageOf<DeliveryWithState> | Failure> {
      const states = knownValues('state', state, DELIVERY_STATES);
      if (isFailure(states)) return states;
      const refused = events.refusalOf(filters);
      if (refused) return refused;
      const now = clock.now();
      const found = await select(visible, page, { ...filters, state: states }, now);
      return { ...found, rows: await withStates(found.rows, now) };
    },

    async get(visible: Visible, guid: string, rights: RequestRights): Promise<DetailedDelivery | Failure> {
      const delivery = await find(visible, guid);
      if (isFailure(delivery)) return delivery;
      const [shown] = await withStates([delivery], clock.now());
      return {
        ...(shown as DeliveryWithState),
        requestBody: requestBodyOf(delivery),
        attempts: await attempts.listOf(delivery, rights),
      };
    },

    async signedRequest(visible: Visible, guid: string): Promise<SignedRequest | Failure> {
      const delivery = await find(visible, guid);
      return isFailure(delivery) ? delivery : attempts.signedRequestOf(delivery);
    },

    /** Delivers an event again with a new cycle of attempts, whatever the state of earlier deliveries. */
    async redeliver(
      actor: Actor,
      visible: Visible,
      { subscription_event_guid, subscription_guid }: Static<typeof NewDelivery>,
      recordAnswer: RecordAnswer<DeliveryWithState> = recordNothing,
    ): Promise<DeliveryWithState | Failure> {
      const event = await events.get(visible, subscription_event_guid);
      if (isFailure(event))
        return new Failure(
          'not_found',
          'subscription_event_guid does not name an event of this Organization',
        );
      const { organizationGuid } = visible;
      // Only subscriptions of the event's environment can receive it.
      const owner = { organizationGuid, environment: event.environment };
      const endpoint = await findDeliveringEndpoint(subscriptions, owner, subscription_guid);
      if (isFailure(endpoint)) return endpoint;
      return database.transaction(async (transaction) => {
        const delivery = await deliverOnce(transaction, actor, 'redelivery', endpoint, event);
        await recordAnswer(transaction, delivery);
        return delivery;
      });
    },
  };
}
