import type { Audit } from '../../../infrastructure/audit/service.ts';
import type { Database } from '../../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../../infrastructure/database/paging/paging.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { type Failure, isFailure } from '../../../infrastructure/runtime/failure.ts';
import type { Subscription, Subscriptions } from '../../subscriptions/service.ts';
import type { Visible } from '../../visible.ts';
import { windowOf } from '../statistics/statistics.ts';
import type { Range } from '../statistics/statistics-schema.ts';
import { CHANGE_ACTIONS, changesOf } from './changes.ts';
import { type EndpointError, selectErrors, selectNextAttempts } from './error-store.ts';
import type { Health } from './health-states.ts';
import { timelineOf, withKnownTimes } from './timeline.ts';
import { selectObserved, selectObservedBefore } from './timeline-store.ts';
import { NONE_WAITING, readWaiting, type Waiting } from './waiting.ts';

export type EndpointHealth = ReturnType<typeof createEndpointHealth>;
export type Symptoms = {
  waiting: Waiting;
  nextAttemptAt: Date | undefined;
  /** Newest first. */
  errors: readonly EndpointError[];
};
export type SubscriptionHealth = Subscription & Symptoms & { health: Health };

/** Kinds of errors of one endpoint. */
const MAX_ERROR_KINDS = 10;
/** Of a timeline; the oldest are left out. */
const MAX_CHANGES = 100;
const INTERVAL_SECONDS: Record<Range, number> = { '1h': 60, '24h': 5 * 60, '7d': 30 * 60 };

type Deps = { database: Database; clock: Clock; subscriptions: Subscriptions; audit: Audit };

/** Health of endpoints, for every role: without the path of the URL and without management. */
export function createEndpointHealth({ database, clock, subscriptions, audit }: Deps) {
  async function symptomsOf(guids: readonly string[], sending: readonly string[] = guids) {
    const firsts = await subscriptions.firstDeliveriesOf(guids);
    const [waiting, errors, nextAttempts] = await Promise.all([
      readWaiting({ database, clock }, guids),
      selectErrors(database.queries, guids, MAX_ERROR_KINDS),
      database.transaction(async (transaction) => {
        await preferIndexes(transaction);
        return selectNextAttempts(
          transaction,
          sending.map((guid) => ({ guid, first: firsts.get(guid) })),
        );
      }),
    ]);
    const errorsOf = Map.groupBy(errors, ({ subscriptionGuid }) => subscriptionGuid);
    return (guid: string): Symptoms => ({
      waiting: waiting.get(guid) ?? NONE_WAITING,
      nextAttemptAt: nextAttempts.get(guid),
      errors: errorsOf.get(guid) ?? [],
    });
  }

  async function withHealth(found: readonly Subscription[]): Promise<SubscriptionHealth[]> {
    if (found.length === 0) return [];
    const guids = found.map(({ guid }) => guid);
    const sending = found.filter((subscription) => SENDING.includes(healthOf(subscription)));
    const symptoms = await symptomsOf(
      guids,
      sending.map(({ guid }) => guid),
    );
    return found.map((subscription) => ({
      ...subscription,
      health: healthOf(subscription),
      ...symptoms(subscription.guid),
    }));
  }

  return {
    /** Of failing endpoints, also of several Organizations. */
    symptomsOf: (guids: readonly string[]) => symptomsOf(guids),

    async list(
      visible: Visible,
      page: Page,
      filters: Parameters<Subscriptions['list']>[2],
    ): Promise<PageOf<SubscriptionHealth> | Failure> {
      const found = await subscriptions.list(visible, page, filters);
      return isFailure(found) ? found : { ...found, rows: await withHealth(found.rows) };
    },

    async get(visible: Visible, guid: string): Promise<SubscriptionHealth | Failure> {
      const found = await subscriptions.get(visible, guid);
      if (isFailure(found)) return found;
      const [own] = await withHealth([found]);
      return own as SubscriptionHealth;
    },

    /** From the counters of attempts and the audit log: nothing is recorded for it. */
    async timeline(visible: Visible, guid: string, range: Range) {
      const subscription = await subscriptions.get(visible, guid);
      if (isFailure(subscription)) return subscription;
      const now = clock.now();
      const { from } = windowOf(range, now);
      const window = { from, to: now, intervalSeconds: INTERVAL_SECONDS[range] };
      const [observed, before, { rows: records }] = await Promise.all([
        selectObserved(database.lists, guid, window),
        selectObservedBefore(database.lists, guid, from),
        audit.walk(
          { number: 1, perPage: MAX_CHANGES, offset: 0, after: undefined },
          { organizationGuid: [visible.organizationGuid], objectId: [guid], action: CHANGE_ACTIONS },
        ),
      ]);
      const changes = changesOf(records.toReversed());
      const inWindow = (moment: Date | null) => (moment && moment >= from ? moment : null);
      const known = withKnownTimes(observed, {
        intervalMs: INTERVAL_SECONDS[range] * 1_000,
        failingSince: inWindow(subscription.deliveries_failing_since),
        recoveredAt: inWindow(subscription.recovered_at),
      });
      return {
        range,
        ...timelineOf({ from, to: now, before: before ?? 'unknown', observed: known, changes }),
      };
    },
  };
}

/** The first rule that applies gives the health. */
function healthOf(subscription: Subscription): Health {
  if (subscription.failed_at !== null) return 'failed';
  if (subscription.disabled_at !== null) return 'disabled';
  if (subscription.paused_at !== null) return 'paused';
  if (subscription.deliveries_failing_since !== null) return 'failing';
  return subscription.activated_at === null ? 'inactive' : 'healthy';
}

/** In these, deliveries have a next attempt. */
const SENDING: readonly Health[] = ['healthy', 'failing', 'inactive'];
