import { createTestApp } from '../../../../testing/app/app.ts';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { insertDeliveries } from '../../../../testing/webhooks/deliveries.ts';
import { createSubscription } from '../../../../testing/webhooks/subscriptions.ts';
import type { Database } from '../../../infrastructure/database/database.ts';
import { createLog } from '../../../infrastructure/runtime/log.ts';
import { createMetrics } from '../../../infrastructure/runtime/metrics.ts';
import type { Delivery, Outcome } from '../delivery.ts';
import { createRecorder, type Recorded } from '../recording/recorder.ts';

export const HOLDER = 'a'.repeat(32);
export const STRANGER = 'b'.repeat(32);
/** An outcome is written within this time. */
export const GATHERED_MS = 20;

/** Deliveries of one subscription, and recorders of their outcomes. */
export async function createRecording() {
  const app = await createTestApp();
  const { queries } = app.database;
  const tenant = await createTenant(app);
  const subscription = await createSubscription(app, tenant);

  /** A recorder in virtual time on a database that a test can block or disconnect. */
  function createHarness() {
    const clock = createFakeClock();
    const logged: string[] = [];
    const rescheduled: Date[] = [];
    const recorded: Recorded[] = [];
    const activated: string[] = [];
    const metrics = createMetrics();
    let writes = 0;
    let concurrent = 0;
    let mostConcurrent = 0;
    /** `losesAnswer`: the next commit succeeds, but its response is lost. */
    const state = { away: false, losesAnswer: false, hold: Promise.resolve() };
    const database: Database = {
      ...app.database,
      async transaction(work) {
        writes += 1;
        concurrent += 1;
        mostConcurrent = Math.max(mostConcurrent, concurrent);
        try {
          await state.hold;
          if (state.away) throw Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' });
          const result = await app.database.transaction(work);
          if (!state.losesAnswer) return result;
          state.losesAnswer = false;
          throw new Error('Connection terminated unexpectedly');
        } finally {
          concurrent -= 1;
        }
      },
    };
    const destination = { write: (line: string) => void logged.push(line) };
    const recorder = createRecorder({
      ...{ database, timers: clock, metrics, subscriptions: app.subscriptions },
      log: createLog({ level: 'warn', terminal: false, destination }),
      holder: () => HOLDER,
      onRescheduled: (dueAt) => void rescheduled.push(dueAt),
      onActivated: (guids) => void activated.push(...guids),
      onRecorded: (each) => void recorded.push(each),
    });
    /** Sent under the lease that the dispatcher has now, unless a test says otherwise. */
    const record = (outcome: Outcome, sentBy = HOLDER) => recorder.record(outcome, sentBy);
    return {
      ...{ activated, clock, logged, metrics, recorded, rescheduled, state },
      recorder: { ...recorder, record },
      writes: () => writes,
      mostConcurrent: () => mostConcurrent,
    };
  }

  /** Deliveries leased to the dispatcher. */
  async function take(count: number, { holder = HOLDER, attemptCount = 0 } = {}): Promise<Delivery[]> {
    const options = Array.from({ length: count }, () => ({ attempt_count: attemptCount }));
    const guids = await insertDeliveries(app, tenant, subscription, options);
    await queries
      .updateTable('delivery_queue')
      .set({ leased_by: holder })
      .where('delivery_guid', 'in', guids)
      .execute();
    return guids.map((guid) => ({
      guid,
      subscriptionGuid: subscription.guid,
      organizationGuid: tenant.organizationGuid,
      environment: subscription.environment,
      ...{ eventGuid: guid, bankGuid: null, eventType: 'transfer.completed', objectGuid: guid },
      ...{ attemptCount, createdAt: app.clock.now(), isEarly: false },
    }));
  }

  function outcomeOf(delivery: Delivery, fields: Partial<Outcome> = {}): Outcome {
    const now = app.clock.now();
    return {
      url: subscription.url,
      ...{ delivery, result: 'completed', attemptedAt: now, endedAt: now, durationMs: 12, status: 200 },
      ...{
        excerpt: 'thanks',
        reason: undefined,
        nextAttemptAt: undefined,
        pausedUntil: undefined,
        ...fields,
      },
    };
  }

  const rowOf = (table: 'deliveries', guid: string) =>
    queries.selectFrom(table).selectAll().where('guid', '=', guid).executeTakeFirstOrThrow();
  const queued = ({ guid }: Delivery) =>
    queries.selectFrom('delivery_queue').selectAll().where('delivery_guid', '=', guid).executeTakeFirst();
  const attemptsOf = ({ guid }: Delivery) =>
    queries.selectFrom('delivery_attempts').selectAll().where('delivery_guid', '=', guid).execute();

  async function completed(deliveries: readonly Delivery[]): Promise<number> {
    const { count } = await queries
      .selectFrom('deliveries')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where(
        'guid',
        'in',
        deliveries.map(({ guid }) => guid),
      )
      .where('completed_at', 'is not', null)
      .executeTakeFirstOrThrow();
    return count;
  }

  return {
    app,
    queries,
    tenant,
    subscription,
    createHarness,
    take,
    outcomeOf,
    rowOf,
    queued,
    attemptsOf,
    completed,
  };
}
