import type { Freezes } from '../../credentials/organizations/freezes.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Subscriptions } from '../../webhooks/subscriptions/service.ts';
import { endpointOf, type NewAlert } from '../details.ts';
import type { Alerts } from '../service.ts';
import { type AlertSettings, type Thresholds, thresholdOf } from '../settings/settings.ts';
import * as store from './store.ts';

/** Organizations of one page. */
const BATCH = 100;
/** Below this part of the number an endpoint is calm again, so that a backlog around the number is one alert. */
const CALM_PART = 0.5;

/** Deliveries that wait, per subscription. */
export type CountWaiting = (organizationGuid: string) => Promise<ReadonlyMap<string, { count: number }>>;

type Deps = {
  database: Database;
  clock: Clock;
  alerts: Alerts;
  settings: AlertSettings;
  subscriptions: Subscriptions;
  countWaiting: CountWaiting;
  freezes: Pick<Freezes, 'check'>;
};
type Chosen = Thresholds & { organizationGuid: string };

/**
 * Raises an alert when more deliveries wait for an endpoint than its Organization chose. While it is frozen they all wait,
 * and nothing changes.
 */
export function createWaitingCheck(deps: Deps) {
  const { database, clock, alerts, settings, subscriptions, countWaiting, freezes } = deps;

  async function checkOrganization({ organizationGuid, ...chosen }: Chosen): Promise<void> {
    const counts = [...(await countWaiting(organizationGuid))].flatMap(([guid, { count }]) => {
      const threshold = thresholdOf(guid, chosen);
      return threshold === undefined ? [] : [{ organizationGuid, subscriptionGuid: guid, count, threshold }];
    });
    if (counts.length === 0) return;
    const known = new Map(
      (await store.selectAlertEndpoints(database.queries, counts)).map((row) => [
        row.subscription_guid,
        row.waiting_since,
      ]),
    );
    const over = counts.filter(
      ({ subscriptionGuid, count, threshold }) => count > threshold && !known.get(subscriptionGuid),
    );
    const calm = counts.filter(
      ({ subscriptionGuid, count, threshold }) =>
        count <= threshold * CALM_PART && known.get(subscriptionGuid),
    );
    if (calm.length > 0)
      await database.transaction(async (transaction) => {
        if (await freezes.check(organizationGuid, transaction)) return;
        await store.setWaiting(transaction, calm, null);
      });
    if (over.length === 0) return;
    const now = clock.now();
    const found = await subscriptions.conditionsOf(over.map(({ subscriptionGuid }) => subscriptionGuid));
    await database.transaction(async (transaction) => {
      if (await freezes.check(organizationGuid, transaction)) return;
      // A change of the threshold has ended the alerts about the one before.
      const current = await settings.lockThresholds(transaction, organizationGuid);
      const confirmed = over.filter(
        ({ subscriptionGuid, threshold }) => thresholdOf(subscriptionGuid, current) === threshold,
      );
      const raised = confirmed.flatMap(({ subscriptionGuid, count, threshold }): NewAlert[] => {
        const subscription = found.get(subscriptionGuid);
        if (!subscription || subscription.hasEnded) return [];
        return [
          {
            ...{ organizationGuid, subscriptionGuid, environment: subscription.environment },
            type: 'deliveries.waiting',
            occurrence: `waiting ${subscriptionGuid} ${now.getTime()}`,
            details: { ...endpointOf(subscription), waiting: count, waiting_threshold: threshold },
          },
        ];
      });
      await alerts.raise(transaction, raised);
      await store.setWaiting(transaction, confirmed, now);
    });
  }

  return async function checkWaiting(): Promise<void> {
    for (let after: string | undefined; ; ) {
      const chosen = await settings.withThreshold(after, BATCH);
      for (const each of chosen) await checkOrganization(each);
      if (chosen.length < BATCH) return;
      after = chosen.at(-1)?.organizationGuid;
    }
  };
}
