import type { Database } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import type { Timers } from '../../../infrastructure/runtime/clock.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../../infrastructure/runtime/metrics.ts';
import type { Subscriptions } from '../../subscriptions/service.ts';
import type { Outcome } from '../delivery.ts';
import { lockBatchesOf, markRecorded, recordBatched } from '../queue/batches.ts';
import { countOutcomes } from './counters.ts';
import { effectsOn } from './endpoint-health.ts';
import * as store from './record-store.ts';

/** Within 20 ms an outcome is on its way into the database. */
const GATHER_MS = 15;
const MAX_BATCH = 1_000;
const RETRY_AFTER_MS = 1_000;

type Deps = {
  database: Database;
  timers: Timers;
  log: Log;
  metrics: Metrics;
  subscriptions: Subscriptions;
  /** The name under which deliveries are leased. */
  holder(): string | undefined;
  /** Something was put back into the queue, to be tried again at this moment. */
  onRescheduled(dueAt: Date): void;
  /** Their endpoints have answered 2xx for the first time. */
  onActivated(subscriptionGuids: readonly string[]): void;
  onRecorded(recorded: Recorded): void;
};

/** What was written down, and since when those of them that failed have been failing. */
export type Recorded = { outcomes: readonly Outcome[]; failingSince: ReadonlyMap<string, Date> };

type Entry = { outcome: Outcome; done(): void };

/**
 * Writes outcomes down in batches: the first one waits a moment for company, the others of that moment go with it.
 * An outcome that cannot be written is kept and tried again; until then its delivery counts as held, so the memory
 * is bounded by what a dispatcher may hold.
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
  let cancel: (() => void) | undefined;
  let writing: Promise<void> | undefined;
  let stopped = false;

  function gather(ms: number): void {
    if (stopped) return;
    cancel ??= timers.after(ms, () => {
      cancel = undefined;
      void flush();
    });
  }

  async function flushAll(): Promise<void> {
    for (let before = -1; gathered.length > 0 && gathered.length !== before; ) {
      before = gathered.length;
      await flush();
    }
    await writing;
  }

  async function flush(): Promise<void> {
    while (writing) await writing;
    if (gathered.length === 0) return;
    cancel?.();
    cancel = undefined;
    const batch = gathered.slice(0, MAX_BATCH);
    gathered = gathered.slice(MAX_BATCH);
    writing = write(batch).finally(() => {
      writing = undefined;
    });
    await writing;
  }

  async function write(batch: readonly Entry[]): Promise<void> {
    try {
      observe(await record(batch.map((entry) => entry.outcome)));
    } catch (error) {
      return keep(batch, error);
    }
    for (const entry of batch) entry.done();
    if (gathered.length > 0) gather(GATHER_MS);
  }

  async function keep(batch: readonly Entry[], error: unknown): Promise<void> {
    if (isRefusal(error)) return writeApart(batch, error);
    const about = { reason: String(error), outcomes: batch.length };
    log.warn(about, 'outcomes could not be written; retrying');
    gathered = [...batch, ...gathered];
    gather(RETRY_AFTER_MS);
  }

  /** One bad outcome must not hold up the others: halves, until it stands alone. Then it goes without its words. */
  async function writeApart(batch: readonly Entry[], error: unknown): Promise<void> {
    const [entry, ...others] = batch;
    if (!entry) return;
    if (others.length > 0) {
      const half = Math.ceil(batch.length / 2);
      await write(batch.slice(0, half));
      return write(batch.slice(half));
    }
    const { outcome } = entry;
    log.error({ err: error, delivery_guid: outcome.delivery.guid }, 'an outcome cannot be recorded as it is');
    const plain = { ...outcome, excerpt: '', reason: undefined };
    try {
      observe(await record([plain], { counts: false }));
    } catch (again) {
      // It stays leased, is found to be with nobody, and is sent again.
      log.error({ err: again, delivery_guid: outcome.delivery.guid }, 'an outcome was given up');
    }
    entry.done();
  }

  /**
   * Gives what counts: of what others have taken over meanwhile, only successes say anything. Writing the same outcomes
   * again, after a commit whose answer was lost, changes nothing: only what this transaction writes is counted.
   */
  async function record(outcomes: readonly Outcome[], { counts = true } = {}): Promise<Recorded> {
    const failed = outcomes.filter(({ result }) => result !== 'completed');
    const { activated, ...recorded } = await database.transaction(async (transaction) => {
      await preferIndexes(transaction);
      const name = holder() ?? NIL_GUID;
      const batched = await lockBatchesOf(transaction, outcomes);
      const inBatch = new Set(batched.completed);
      const queued = outcomes.filter((outcome) => outcome.result === 'completed' && !inBatch.has(outcome));
      // In this order on the wire, and one wait for all of them.
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
      const [, activated] = await Promise.all([
        counts && written.length > 0 && store.addCounts(transaction, countOutcomes(written)),
        subscriptions.noteOutcomes(transaction, effectsOn(written)),
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
    record(outcome: Outcome): Promise<void> {
      return new Promise((done) => {
        gathered.push({ outcome, done });
        // Only the one that fills a batch: while the database is away, each of the others would ask for it.
        if (gathered.length === MAX_BATCH) void flush();
        else gather(GATHER_MS);
      });
    },

    flush: flushAll,

    /** Everything so far; what cannot be written now is given up, for its deliveries will be sent again. */
    async stop(): Promise<void> {
      await flushAll();
      stopped = true;
      cancel?.();
      cancel = undefined;
    },
  };
}

/** A name that holds nothing. */
const NIL_GUID = '0'.repeat(32);

const NONE: ReadonlyMap<string, Date> = new Map();
const NOTHING: ReadonlySet<string> = new Set();

/**
 * The data do not fit, or there is no partition for them (classes 22 and 23), or they could not even be written as
 * parameters: the same would be refused again.
 */
function isRefusal(error: unknown): boolean {
  if (error instanceof RangeError || error instanceof TypeError) return true;
  return /^2[23]/.test((error as { code?: string }).code ?? '');
}
