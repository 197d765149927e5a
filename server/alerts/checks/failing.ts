import type { Freezes } from '../../credentials/organizations/freezes.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import { type Clock, later } from '../../infrastructure/runtime/clock.ts';
import { NIL_GUID } from '../../infrastructure/runtime/guid.ts';
import type { EndpointHealth } from '../../webhooks/deliveries/health/health.ts';
import type { FailingEndpoint, Subscriptions } from '../../webhooks/subscriptions/service.ts';
import { endpointOf, type NewAlert } from '../details.ts';
import type { Alerts } from '../service.ts';
import * as store from './store.ts';
import { readSymptoms } from './symptoms.ts';

const MINUTE_MS = 60_000;
/** 10 minutes, 1 hour, 1 day and 5 days. After seven days the subscription fails. */
const THRESHOLDS_MINUTES = [10, 60, 24 * 60, 5 * 24 * 60];
const [FIRST_MINUTES = 0] = THRESHOLDS_MINUTES;
/** Endpoints of one transaction. */
const BATCH = 500;

type Deps = {
  database: Database;
  clock: Clock;
  alerts: Alerts;
  subscriptions: Subscriptions;
  endpointHealth: Pick<EndpointHealth, 'symptomsOf'>;
  freezes: Pick<Freezes, 'among'>;
};

/**
 * Raises alerts about endpoints that fail for a while, and about their recovery. Each is unique by its occurrence. Those of a
 * frozen Organization wait.
 */
export function createFailingCheck(deps: Deps) {
  const { database, clock, alerts, subscriptions, endpointHealth, freezes } = deps;

  async function withoutFrozen<Item>(
    transaction: Transaction,
    items: readonly Item[],
    organizationOf: (item: Item) => string,
  ): Promise<Item[]> {
    const frozen = await freezes.among(new Set(items.map(organizationOf)), transaction);
    return items.filter((item) => !frozen.has(organizationOf(item)));
  }

  async function raiseFailing(endpoints: readonly FailingEndpoint[], now: Date): Promise<void> {
    const keys = endpoints.map(keyOf);
    const known = new Map(
      (await store.selectAlertEndpoints(database.queries, keys)).map((row) => [row.subscription_guid, row]),
    );
    const due = endpoints.flatMap((endpoint) => {
      const minutes = thresholdOf(endpoint.failingSince, now);
      const row = known.get(endpoint.guid);
      const isSame = row?.failing_since?.getTime() === endpoint.failingSince.getTime();
      if (minutes === undefined || (isSame && (row?.failing_minutes ?? 0) >= minutes)) return [];
      // A recovery between two checks is announced first, by the next one.
      return row?.failing_since && !isSame ? [] : [{ ...endpoint, failingMinutes: minutes }];
    });
    if (due.length === 0) return;
    const symptoms = await readSymptoms(
      endpointHealth,
      due.map(({ guid }) => guid),
    );
    await database.transaction(async (transaction) => {
      const raised = await withoutFrozen(transaction, due, ({ organizationGuid }) => organizationGuid);
      if (raised.length === 0) return;
      await alerts.raise(
        transaction,
        raised.map(
          ({ failingSince, failingMinutes, ...endpoint }): NewAlert => ({
            ...ownerOf(endpoint),
            type: 'endpoint.failing',
            occurrence: `failing ${endpoint.guid} ${failingSince.getTime()} ${failingMinutes}`,
            details: {
              ...endpointOf(endpoint),
              failing_since: failingSince.toISOString(),
              failing_minutes: failingMinutes,
              ...symptoms.get(endpoint.guid),
            },
          }),
        ),
      );
      await store.upsertFailing(
        transaction,
        raised.map((endpoint) => ({ ...endpoint, ...keyOf(endpoint) })),
      );
    });
  }

  async function raiseRecovered(rows: readonly store.AlertEndpoint[]): Promise<void> {
    const current = await subscriptions.conditionsOf(rows.map((row) => row.subscription_guid));
    const ended = rows.flatMap((row) => {
      const subscription = current.get(row.subscription_guid);
      const since = row.failing_since as Date;
      const isSame = subscription?.failingSince?.getTime() === since.getTime();
      return isSame && !subscription?.hasEnded ? [] : [{ row, since, subscription }];
    });
    if (ended.length === 0) return;
    const recoveredOf = ({ since, subscription }: (typeof ended)[number]): NewAlert[] => {
      if (!subscription || subscription.hasEnded) return [];
      const { recoveredAt } = subscription;
      // Enabling, resuming and a change of the URL clear failures without a success.
      if (!recoveredAt || recoveredAt < since) return [];
      return [
        {
          ...ownerOf(subscription),
          type: 'endpoint.recovered',
          occurrence: `recovered ${subscription.guid} ${since.getTime()}`,
          details: {
            ...endpointOf(subscription),
            failing_since: since.toISOString(),
            recovered_at: recoveredAt.toISOString(),
          },
        },
      ];
    };
    await database.transaction(async (transaction) => {
      const cleared = await withoutFrozen(transaction, ended, ({ row }) => row.organization_guid);
      if (cleared.length === 0) return;
      await alerts.raise(transaction, cleared.flatMap(recoveredOf));
      await store.clearFailing(
        transaction,
        cleared.map(({ row }) => ({
          organizationGuid: row.organization_guid,
          subscriptionGuid: row.subscription_guid,
        })),
      );
    });
  }

  return async function checkFailing(): Promise<void> {
    let after = { organizationGuid: NIL_GUID, subscriptionGuid: NIL_GUID };
    for (;;) {
      const rows = await store.selectFailingEndpoints(database.queries, after, BATCH);
      if (rows.length > 0) await raiseRecovered(rows);
      const last = rows.at(-1);
      if (!last || rows.length < BATCH) break;
      after = { organizationGuid: last.organization_guid, subscriptionGuid: last.subscription_guid };
    }
    const now = clock.now();
    const before = later(now, -FIRST_MINUTES * MINUTE_MS);
    for (let guid = NIL_GUID; ; ) {
      const endpoints = await subscriptions.failingSince(before, guid, BATCH);
      if (endpoints.length > 0) await raiseFailing(endpoints, now);
      if (endpoints.length < BATCH) return;
      guid = endpoints.at(-1)?.guid ?? guid;
    }
  };
}

/** Only the longest: after an outage of the service one alert says it all. */
function thresholdOf(since: Date, now: Date): number | undefined {
  return THRESHOLDS_MINUTES.findLast((minutes) => now.getTime() - since.getTime() >= minutes * MINUTE_MS);
}

function keyOf({ guid, organizationGuid }: { guid: string; organizationGuid: string }) {
  return { organizationGuid, subscriptionGuid: guid };
}

function ownerOf({
  organizationGuid,
  environment,
  guid,
}: Pick<FailingEndpoint, 'organizationGuid' | 'environment' | 'guid'>) {
  return { organizationGuid, environment, subscriptionGuid: guid };
}
