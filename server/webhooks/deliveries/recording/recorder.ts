import type { Database } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import type { Timers } from '../../../infrastructure/runtime/clock.ts';
import { createDelayedFlush } from '../../../infrastructure/runtime/delayed-flush.ts';
import { NIL_GUID } from '../../../infrastructure/runtime/guid.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../../infrastructure/runtime/metrics.ts';
import type { Subscriptions } from '../../subscriptions/service.ts';
import { hasAttemptRow, type Outcome } from '../delivery.ts';
import { addErrors } from '../health/error-store.ts';
import { countErrors } from '../health/errors.ts';
import { lockBatchesOf, markRecorded, recordBatched } from '../queue/batches.ts';
import { insertAttempts } from './attempt-store.ts';
import { countOutcomes } from './counters.ts';
import { effectsOn } from './endpoint-health.ts';
import * as store from './record-store.ts';

const GATHER_MS = 15;
const MAX_BATCH = 1_000;
const RETRY_AFTER_MS = 1_000;

type Deps = {
  database: Database;
  timers: Timers;
  log: Log;
  metrics: Metrics;
  subscriptions: Subscriptions;
  /** Lease holder of the deliveries. */
  holder(): string | undefined;
  /** `dueAt` is the earliest retry among the recorded outcomes. */
  onRescheduled(dueAt: Date): void;
  /** These endpoints have answered 2xx for the first time. */
  onActivated(subscriptionGuids: readonly string[]): void;
  onRecorded(recorded: Recorded): void;
};

/** Recorded outcomes, and for failed deliveries the time of their first failure. */
export type Recorded = { outcomes: readonly Outcome[]; failingSince: ReadonlyMap<string, Date> };

/** `sentBy` is the lease holder under which the request was sent. */
type Entry = { outcome: Outcome; sentBy: string | undefined; done(): void };

/**
 * Records outcomes in batches. An outcome that cannot be written is kept and retried; its delivery counts as held until
 * then, so the limit of held deliveries bounds the memory.
 */
export function createRecorder({
  database,
  timers,
  log,
  metrics,
  subscriptions,
  holder,
  onRescheduled,
  onActivated,
  onRecorded,
}: Deps) {
  let gathered: Entry[] = [];
  let stopped = false;
  const flushing = createDelayedFlush({
    timers,
    delayMs: GATHER_MS,
    async write() {
      const { batch, later } = takeBatch(gathered);
      gathered = later;
      await write(batch);
    },
  });

  function flushLater(ms?: number): void {
    if (!stopped) flushing.schedule(ms);
  }

  async function flushAll(): Promise<void> {
    for (let before = -1; gathered.length > 0 && gathered.length !== before; ) {
      before = gathered.length;
      await flushing.flush();
    }
    await flushing.idle();
  }

  async function write(batch: readonly Entry[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      observe(await record(batch));
    } catch (error) {
      return keep(batch, error);
    }
    for (const entry of batch) entry.done();
    if (gathered.length > 0) flushLater();
  }

  async function keep(batch: readonly Entry[], error: unknown): Promise<void> {
    if (isRejected(error)) return bisect(batch, error);
    const about = { reason: String(error), outcomes: batch.length };
    log.warn(about, 'could not record outcomes; retrying');
    gathered = [...batch, ...gathered];
    // Outcomes that arrived during the write have scheduled a flush, which would be too early.
    flushing.cancel();
    flushLater(RETRY_AFTER_MS);
  }

  /** Splits the batch until the rejected outcome is alone, then records it without its texts. */
  async function bisect(batch: readonly Entry[], error: unknown): Promise<void> {
    const [entry, ...others] = batch;
    if (!entry) return;
    if (others.length > 0) {
      const half = Math.ceil(batch.length / 2);
      await write(batch.slice(0, half));
      return write(batch.slice(half));
    }
    const { outcome } = entry;
    log.error(
      { err: error, delivery_guid: outcome.delivery.guid },
      'the database rejected an outcome; recording it without its texts',
    );
    const plain = { ...outcome, excerpt: '', reason: undefined, exchange: undefined };
    try {
      observe(await record([{ ...entry, outcome: plain }], { counts: false }));
    } catch (again) {
      // The lease is released as untracked, and the delivery is sent again.
      log.error({ err: again, delivery_guid: outcome.delivery.guid }, 'could not record an outcome');
    }
    entry.done();
  }

  /**
   * Of deliveries taken over by another dispatcher, only successes are recorded. The same holds for deliveries that this
   * process lost and claimed again: a failure under the lost lease would release them while they are being sent.
   * Recording the same outcomes twice, after a commit whose response was lost, changes nothing.
   */
  async function record(entries: readonly Entry[], { counts = true } = {}): Promise<Recorded> {
    const outcomes = entries.map(({ outcome }) => outcome);
    const { activated, ...recorded } = await database.transaction(async (transaction) => {
      await preferIndexes(transaction);
      const name = holder() ?? NIL_GUID;
      const batched = await lockBatchesOf(transaction, outcomes);
      const inBatch = new Set(batched.completed);
      const queued = outcomes.filter((outcome) => outcome.result === 'completed' && !inBatch.has(outcome));
      const failedInBatch = new Set(batched.failed);
      const failed = entries
        .filter(({ outcome: { result, delivery }, sentBy }) => {
          return result !== 'completed' && (sentBy === name || failedInBatch.has(delivery));
        })
        .map(({ outcome }) => outcome);
      // Pipelined: the statements run in this order.
      const [repeated, own, others] = await Promise.all([
        recordBatched(transaction, batched, name),
        failed.length > 0 ? store.failDeliveries(transaction, name, failed) : NONE,
        queued.length > 0 ? store.completeDeliveries(transaction, name, queued) : NOTHING,
      ]);
      const takenOver = queued.filter(({ delivery }) => others.has(delivery.guid));
      const ended = takenOver.length > 0 ? await store.completeTakenOver(transaction, takenOver) : NOTHING;
      const written = outcomes.filter(({ result, delivery: { guid } }) =>
        result === 'completed' ? !repeated.has(guid) && !ended.has(guid) : own.has(guid),
      );
      const attempts = written.filter(
        ({ result, delivery }) => result !== 'completed' || hasAttemptRow(delivery),
      );
      const [, , activated] = await Promise.all([
        attempts.length > 0 && insertAttempts(transaction, attempts),
        counts && written.length > 0 && store.addCounts(transaction, countOutcomes(written)),
        subscriptions.applyOutcomes(transaction, effectsOn(written)),
        own.size > 0 && addErrors(transaction, countErrors(written)),
      ]);
      const counted = outcomes.filter(
        ({ result, delivery }) => result === 'completed' || own.has(delivery.guid),
      );
      return { outcomes: counted, failingSince: own, activated };
    });
    markRecorded(outcomes);
    if (activated.length > 0) onActivated(activated);
    return recorded;
  }

  function observe(recorded: Recorded): void {
    const results = new Map<Outcome['result'], number>();
    let failed = 0;
    let nextDueAt: Date | undefined;
    for (const { delivery, result, endedAt, nextAttemptAt } of recorded.outcomes) {
      results.set(result, (results.get(result) ?? 0) + 1);
      if (result === 'completed')
        metrics.deliverySeconds.observe((endedAt.getTime() - delivery.createdAt.getTime()) / 1_000);
      else if (nextAttemptAt === undefined) failed += 1;
      else if (!nextDueAt || nextAttemptAt < nextDueAt) nextDueAt = nextAttemptAt;
    }
    for (const [outcome, count] of results) metrics.attempts.inc({ outcome }, count);
    metrics.deliveries.inc({ state: 'completed' }, results.get('completed') ?? 0);
    metrics.deliveries.inc({ state: 'failed' }, failed);
    if (nextDueAt) onRescheduled(nextDueAt);
    onRecorded(recorded);
  }

  return {
    /** Resolves once the outcome is durable. */
    record(outcome: Outcome, sentBy: string | undefined): Promise<void> {
      return new Promise((done) => {
        gathered.push({ outcome, sentBy, done });
        // Not `>=`: while the database is unavailable, every further outcome would flush.
        if (gathered.length === MAX_BATCH) void flushing.flush();
        else flushLater();
      });
    },

    flush: flushAll,

    /** Drops outcomes that could not be recorded; their deliveries are sent again. */
    stop(): void {
      stopped = true;
      flushing.cancel();
    },
  };
}

/**
 * A delivery occurs once in a batch, because its outcome is counted by what the statement changed. It has two outcomes when
 * this process lost its lease and claimed the delivery again before it could record the first one.
 */
function takeBatch(gathered: readonly Entry[]): { batch: Entry[]; later: Entry[] } {
  const byDelivery = new Map<string, Entry>();
  const later: Entry[] = [];
  for (const entry of gathered) {
    const { guid } = entry.outcome.delivery;
    if (byDelivery.size < MAX_BATCH && !byDelivery.has(guid)) byDelivery.set(guid, entry);
    else later.push(entry);
  }
  return { batch: [...byDelivery.values()], later };
}

const NONE: ReadonlyMap<string, Date> = new Map();
const NOTHING: ReadonlySet<string> = new Set();

/** Permanent errors: invalid data (SQLSTATE classes 22 and 23) or parameters that cannot be encoded. */
function isRejected(error: unknown): boolean {
  if (error instanceof RangeError || error instanceof TypeError) return true;
  return /^2[23]/.test((error as { code?: string }).code ?? '');
}
