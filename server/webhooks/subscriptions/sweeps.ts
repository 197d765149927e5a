import { endpointOf, type NewAlert } from '../../alerts/details.ts';
import type { Alerts } from '../../alerts/service.ts';
import { type Audit, systemActor } from '../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Events } from '../events/service.ts';
import { changeOf, eventOf } from './records.ts';
import { FAILS_AFTER_MS, type SubscriptionRow } from './state.ts';
import * as store from './sweep-store.ts';

/** Subscriptions of one transaction. */
const BATCH = 100;

type Deps = { database: Database; clock: Clock; audit: Audit; events: Events; alerts: Alerts };

/** Time-based state changes. Safe to run on several nodes at once: each skips rows locked by another. */
export function createSweeps({ database, clock, audit, events, alerts }: Deps) {
  async function inBatches(
    ending: 'deleted' | 'failed',
    mark: (transaction: Transaction, batch: store.Batch) => Promise<SubscriptionRow[]>,
    changes: (row: SubscriptionRow) => Record<string, unknown>,
  ): Promise<number> {
    let total = 0;
    for (;;) {
      const marked = await database.transaction(async (transaction) => {
        const refused = await events.refusedOrganizations(transaction);
        const rows = await mark(transaction, { limit: BATCH, refused });
        for (const row of rows)
          await audit.record(
            transaction,
            systemActor,
            changeOf(ending === 'failed' ? 'fail' : 'remove', row, changes(row)),
          );
        await events.publish(
          transaction,
          rows.map((row) => eventOf(`subscription.${ending}`, row)),
        );
        if (ending === 'failed') await alerts.raise(transaction, rows.map(failedAlertOf));
        return rows.length;
      });
      total += marked;
      if (marked < BATCH) return total;
    }
  }

  return {
    /** Marks subscriptions as deleted whose scheduled deletion is due; returns their number. */
    sweepDeleted: () =>
      inBatches(
        'deleted',
        (transaction, batch) => store.markDeleted(transaction, clock.now(), batch),
        (row) => ({ scheduled_deletion_at: row.scheduled_deletion_at?.toISOString() }),
      ),

    /** Marks subscriptions as failed that have been failing for a week; returns their number. */
    sweepFailed: () =>
      inBatches(
        'failed',
        (transaction, batch) => {
          const now = clock.now();
          const failingBefore = new Date(now.getTime() - FAILS_AFTER_MS);
          return store.markFailed(transaction, { failingBefore, now }, batch);
        },
        (row) => ({ deliveries_failing_since: row.deliveries_failing_since?.toISOString() }),
      ),
  };
}

function failedAlertOf(row: SubscriptionRow): NewAlert {
  const since = row.deliveries_failing_since?.toISOString();
  return {
    ...{ organizationGuid: row.organization_guid, environment: row.environment, subscriptionGuid: row.guid },
    type: 'subscription.failed',
    occurrence: `failed ${row.guid}`,
    details: { ...endpointOf(row), ...(since === undefined ? {} : { failing_since: since }) },
  };
}
