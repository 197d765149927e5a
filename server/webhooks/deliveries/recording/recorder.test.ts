import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createTestApp } from '../../../../testing/app.ts';
import { insertDeliveries } from '../../../../testing/deliveries.ts';
import { createFakeClock } from '../../../../testing/fake-clock.ts';
import { createSubscription } from '../../../../testing/subscriptions.ts';
import { createTenant } from '../../../../testing/tenant.ts';
import type { Database } from '../../../infrastructure/database/database.ts';
import { createLog } from '../../../infrastructure/runtime/log.ts';
import { createMetrics } from '../../../infrastructure/runtime/metrics.ts';
import type { Delivery, Outcome } from '../delivery.ts';
import { createRecorder, type Recorded } from './recorder.ts';

const app = await createTestApp();
const { queries } = app.database;
const tenant = await createTenant(app);
const subscription = await createSubscription(app, tenant);
const HOLDER = 'a'.repeat(32);
const STRANGER = 'b'.repeat(32);
/** An outcome is written within this time. */
const GATHERED_MS = 20;

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
  return {
    ...{ activated, clock, logged, metrics, recorder, recorded, rescheduled, state },
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
    ...{ excerpt: 'thanks', reason: undefined, nextAttemptAt: undefined, isPaused: false, ...fields },
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

test('late_completed_at is set by a success more than five minutes after the creation, and by no other', async () => {
  const { clock, recorder } = createHarness();
  const deliveries = await take(2);
  const created = app.clock.now().getTime();
  const ends = [new Date(created + 5 * 60_000), new Date(created + 5 * 60_000 + 1)];
  const recorded = deliveries.map((delivery, index) =>
    recorder.record(outcomeOf(delivery, { endedAt: ends[index] as Date })),
  );
  clock.advance(GATHERED_MS);
  await Promise.all(recorded);
  const rows = await Promise.all(deliveries.map(({ guid }) => rowOf('deliveries', guid)));
  assert.deepEqual(
    rows.map((row) => [row.completed_at, row.late_completed_at]),
    [
      [ends[0], null],
      [ends[1], ends[1]],
    ],
  );
});

test('a success completes the delivery; a first attempt has no row of its own', async () => {
  const { clock, recorder } = createHarness();
  const [delivery] = await take(1);
  assert.ok(delivery);
  const recorded = recorder.record(outcomeOf(delivery));
  clock.advance(GATHERED_MS);
  await recorded;
  const row = await rowOf('deliveries', delivery.guid);
  assert.equal(row.attempt_count, 1);
  assert.deepEqual(row.completed_at, app.clock.now());
  assert.equal(row.response_status, 200);
  assert.equal(row.response_time_ms, 12);
  assert.equal(row.response_excerpt, 'thanks');
  assert.equal(await queued(delivery), undefined);
  assert.deepEqual(await attemptsOf(delivery), []);
});

test('a success after failures has an attempt row', async () => {
  const { recorder } = createHarness();
  const [delivery] = await take(1, { attemptCount: 3 });
  assert.ok(delivery);
  void recorder.record(outcomeOf(delivery));
  await recorder.flush();
  const attempts = await attemptsOf(delivery);
  assert.deepEqual(
    attempts.map(({ number, outcome }) => [number, outcome]),
    [[4, 'completed']],
  );
  assert.equal((await rowOf('deliveries', delivery.guid)).attempt_count, 4);
});

test('a failure is requeued with its next attempt, which is announced', async () => {
  const { recorder, rescheduled } = createHarness();
  const [delivery] = await take(1);
  assert.ok(delivery);
  const nextAttemptAt = new Date(app.clock.now().getTime() + 2_000);
  const failure = { result: 'timeout', status: undefined, excerpt: '', reason: 'no answer' } as const;
  void recorder.record(outcomeOf(delivery, { ...failure, nextAttemptAt }));
  await recorder.flush();
  const place = await queued(delivery);
  assert.deepEqual(
    [place?.due_at, place?.scheduled_at, place?.leased_by],
    [nextAttemptAt, app.clock.now(), null],
  );
  const row = await rowOf('deliveries', delivery.guid);
  assert.deepEqual([row.failure_kind, row.failing_since, row.failed_at], ['timeout', app.clock.now(), null]);
  const [attempt] = await attemptsOf(delivery);
  assert.deepEqual([attempt?.number, attempt?.outcome, attempt?.reason], [1, 'timeout', 'no answer']);
  assert.deepEqual(rescheduled, [nextAttemptAt]);
});

test('a failure without a next attempt fails the delivery', async () => {
  const { recorder, rescheduled } = createHarness();
  const [delivery] = await take(1, { attemptCount: 9 });
  assert.ok(delivery);
  void recorder.record(outcomeOf(delivery, { result: 'rejected', status: 500 }));
  await recorder.flush();
  const row = await rowOf('deliveries', delivery.guid);
  assert.deepEqual([row.failed_at, row.attempt_count], [app.clock.now(), 10]);
  assert.equal(await queued(delivery), undefined);
  assert.deepEqual(rescheduled, []);
});

test('of taken-over deliveries failures are ignored and successes recorded', async () => {
  const { recorder } = createHarness();
  const [failing, succeeding] = await take(2, { holder: STRANGER });
  assert.ok(failing && succeeding);
  void recorder.record(outcomeOf(failing, { result: 'rejected', status: 500 }));
  void recorder.record(outcomeOf(succeeding));
  await recorder.flush();
  assert.equal((await queued(failing))?.leased_by, STRANGER);
  assert.equal((await rowOf('deliveries', failing.guid)).failed_at, null);
  assert.equal(await queued(succeeding), undefined);
  assert.ok((await rowOf('deliveries', succeeding.guid)).completed_at);
});

test('onRecorded gets the recorded outcomes with failingSince, without failures of taken-over deliveries', async () => {
  const { recorder, recorded, state } = createHarness();
  const [failing, succeeding] = await take(2);
  const [foreign] = await take(1, { holder: STRANGER });
  assert.ok(failing && succeeding && foreign);
  const since = new Date(app.clock.now().getTime() - 60_000);
  await queries
    .updateTable('deliveries')
    .set({ failing_since: since })
    .where('guid', '=', failing.guid)
    .execute();
  for (const delivery of [failing, foreign])
    void recorder.record(outcomeOf(delivery, { result: 'rejected', status: 500 }));
  void recorder.record(outcomeOf(succeeding));
  state.away = true;
  await recorder.flush();
  assert.equal(recorded.length, 0);
  state.away = false;
  await recorder.flush();
  assert.deepEqual(
    recorded.map(({ outcomes, failingSince }) => [outcomes.map(({ delivery }) => delivery), failingSince]),
    [[[failing, succeeding], new Map([[failing.guid, since]])]],
  );
});

test('concurrent outcomes are written together within 20 ms of the first', async () => {
  const { clock, recorder, writes } = createHarness();
  const deliveries = await take(20);
  const first = deliveries.slice(0, 10).map((delivery) => recorder.record(outcomeOf(delivery)));
  clock.advance(4);
  const later = deliveries.slice(10).map((delivery) => recorder.record(outcomeOf(delivery)));
  assert.equal(writes(), 0);
  clock.advance(GATHERED_MS - 4);
  await Promise.all([...first, ...later]);
  assert.equal(writes(), 1);
  assert.equal(await completed(deliveries), 20);
});

test('a batch has at most a thousand outcomes, and a full one is written at once', async () => {
  const { recorder, writes } = createHarness();
  const deliveries = await take(2_500);
  const full = deliveries.slice(0, 1_000).map((delivery) => recorder.record(outcomeOf(delivery)));
  await Promise.all(full);
  assert.equal(writes(), 1);
  for (const delivery of deliveries.slice(1_000)) void recorder.record(outcomeOf(delivery));
  await recorder.flush();
  assert.equal(writes(), 3);
  assert.equal(await completed(deliveries), 2_500);
});

test('writes never overlap', async () => {
  const { clock, recorder, state, writes, mostConcurrent } = createHarness();
  const deliveries = await take(2_300);
  const held = Promise.withResolvers<void>();
  state.hold = held.promise;
  const recorded = deliveries.slice(0, 100).map((delivery) => recorder.record(outcomeOf(delivery)));
  clock.advance(GATHERED_MS);
  await turn();
  assert.equal(writes(), 1);
  recorded.push(...deliveries.slice(100, 200).map((delivery) => recorder.record(outcomeOf(delivery))));
  clock.advance(GATHERED_MS);
  recorded.push(...deliveries.slice(200).map((delivery) => recorder.record(outcomeOf(delivery))));
  const flushed = [recorder.flush(), recorder.flush()];
  await turn();
  assert.equal(writes(), 1);
  held.resolve();
  await Promise.all(flushed);
  await Promise.all(recorded);
  assert.equal(mostConcurrent(), 1);
  assert.equal(writes(), 4);
  assert.equal(await completed(deliveries), 2_300);
});

test('during an outage outcomes are kept and then recorded in order', async () => {
  const { clock, logged, recorder, state } = createHarness();
  const deliveries = await take(30);
  const done: string[] = [];
  const record = (some: readonly Delivery[]) =>
    some.map((delivery) => recorder.record(outcomeOf(delivery)).then(() => done.push(delivery.guid)));
  state.away = true;
  const held = Promise.withResolvers<void>();
  state.hold = held.promise;
  const early = record(deliveries.slice(0, 10));
  const flushing = recorder.flush();
  const late = record(deliveries.slice(10));
  held.resolve();
  await flushing;
  assert.deepEqual(done, []);
  assert.match(logged.join(), /could not record outcomes; retrying/);
  assert.equal(await completed(deliveries), 0);

  state.away = false;
  clock.advance(999);
  await turn();
  assert.deepEqual(done, []);
  clock.advance(1);
  await Promise.all([...early, ...late]);
  assert.deepEqual(
    done,
    deliveries.map(({ guid }) => guid),
  );
  assert.equal(await completed(deliveries), 30);
});

test('during an outage writes are retried once per second, whatever the number of outcomes', async () => {
  const { clock, recorder, state, writes } = createHarness();
  const deliveries = await take(1_500);
  state.away = true;
  const recorded: Promise<void>[] = [];
  for (const delivery of deliveries) {
    recorded.push(recorder.record(outcomeOf(delivery)));
    await turn();
  }
  assert.ok(writes() <= 2, `${writes()} writes`);
  const before = writes();
  clock.advance(1_000);
  await turn();
  assert.equal(writes(), before + 1);
  state.away = false;
  await recorder.flush();
  await Promise.all(recorded);
  assert.equal(await completed(deliveries), 1_500);
});

test('flush returns while the database is unavailable', async () => {
  const { recorder, state, writes } = createHarness();
  const deliveries = await take(3);
  state.away = true;
  const recorded = deliveries.map((delivery) => recorder.record(outcomeOf(delivery)));
  await recorder.flush();
  assert.equal(writes(), 1);
  await recorder.flush();
  assert.equal(writes(), 2);
  state.away = false;
  await recorder.flush();
  await Promise.all(recorded);
});

test('flush waits for the write in progress and does nothing without outcomes', async () => {
  const { clock, recorder, state, writes } = createHarness();
  await recorder.flush();
  assert.equal(writes(), 0);
  const [delivery] = await take(1);
  assert.ok(delivery);
  const held = Promise.withResolvers<void>();
  state.hold = held.promise;
  void recorder.record(outcomeOf(delivery));
  clock.advance(GATHERED_MS);
  let flushed = false;
  const flushing = recorder.flush().then(() => {
    flushed = true;
  });
  await turn();
  assert.equal(flushed, false);
  held.resolve();
  await flushing;
  assert.equal(await completed([delivery]), 1);
});

test('a rejected outcome does not stop the others and is recorded without its texts', async () => {
  const { recorder, logged, writes, metrics } = createHarness();
  const deliveries = await take(1_000);
  const poisoned = deliveries[617] as Delivery;
  const recorded = deliveries.map((delivery) =>
    recorder.record(outcomeOf(delivery, delivery === poisoned ? { excerpt: 'a \0 in it' } : {})),
  );
  await recorder.flush();
  await Promise.all(recorded);
  assert.equal(await completed(deliveries), 1_000);
  assert.equal((await rowOf('deliveries', poisoned.guid)).response_excerpt, null);
  assert.ok(writes() <= 25, `${writes()} writes`);
  const errors = logged.map((line) => JSON.parse(line)).filter(({ msg }) => /rejected an outcome/.test(msg));
  assert.deepEqual(
    errors.map(({ delivery_guid }) => delivery_guid),
    [poisoned.guid],
  );
  const { values } = await metrics.attempts.get();
  assert.deepEqual(
    values.map(({ value }) => value),
    [1_000],
  );
});

test('two rejected outcomes in one batch, first and last', async () => {
  const { recorder } = createHarness();
  const deliveries = await take(9);
  const recorded = deliveries.map((delivery, index) =>
    recorder.record(outcomeOf(delivery, index % 8 === 0 ? { excerpt: '\0' } : {})),
  );
  await recorder.flush();
  await Promise.all(recorded);
  assert.equal(await completed(deliveries), 9);
});

test('an outcome that cannot be encoded does not stop the others and is dropped', async () => {
  const { recorder, logged } = createHarness();
  const deliveries = await take(9);
  const recorded = deliveries.map((delivery, index) =>
    recorder.record(outcomeOf(delivery, index === 4 ? { durationMs: 2 ** 40 } : {})),
  );
  await recorder.flush();
  await Promise.all(recorded);
  assert.equal(await completed(deliveries), 8);
  assert.ok(logged.some((line) => line.includes('could not record an outcome"')));
});

test('a delivery whose outcome cannot be recorded is released', async () => {
  const { recorder } = createHarness();
  const [delivery] = await take(1);
  assert.ok(delivery);
  void recorder.record(outcomeOf(delivery, { excerpt: '\0' }));
  await recorder.flush();
  assert.notEqual((await queued(delivery))?.leased_by, HOLDER);
});

test('an outcome without a counter partition is recorded without being counted', async () => {
  const { recorder } = createHarness();
  const deliveries = await take(3);
  const leap = new Date(app.clock.now().getTime() + 90 * 24 * 3_600_000);
  const recorded = deliveries.map((delivery, index) =>
    recorder.record(outcomeOf(delivery, index === 1 ? { endedAt: leap } : {})),
  );
  await recorder.flush();
  await Promise.all(recorded);
  assert.equal(await completed(deliveries), 3);
});

test('counters sum the outcomes of all batches of a minute', async () => {
  app.clock.advance(3_600_000);
  const { recorder } = createHarness();
  const deliveries = await take(6);
  for (const [index, delivery] of deliveries.entries()) {
    const failed = { result: 'rejected', status: 500 } as const;
    void recorder.record(outcomeOf(delivery, index < 2 ? failed : { durationMs: 7 }));
    if (index % 2 === 1) await recorder.flush();
  }
  const minute = new Date(Math.floor(app.clock.now().getTime() / 60_000) * 60_000);
  const counters = await queries
    .selectFrom('delivery_counters')
    .selectAll()
    .where('subscription_guid', '=', subscription.guid)
    .where('minute', '=', minute)
    .executeTakeFirstOrThrow();
  assert.deepEqual([counters.completed, counters.failed_attempts], [4, 2]);
  assert.deepEqual(counters.response_times, [0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
});

type Totals = { completed: number; failed: number; answers: number };

/** Sums of the subscription over all minutes. */
async function totals(): Promise<Totals> {
  const rows = await queries
    .selectFrom('delivery_counters')
    .selectAll()
    .where('subscription_guid', '=', subscription.guid)
    .execute();
  const sum = (each: (row: (typeof rows)[number]) => number) =>
    rows.reduce((total, row) => total + each(row), 0);
  return {
    completed: sum((row) => row.completed),
    failed: sum((row) => row.failed_attempts),
    answers: sum((row) => row.response_times.reduce((total, count) => total + count, 0)),
  };
}

const added = (before: Totals, now: Totals): Totals => ({
  completed: now.completed - before.completed,
  failed: now.failed - before.failed,
  answers: now.answers - before.answers,
});

const nextAttemptAt = new Date(app.clock.now().getTime() + 2_000);

test('outcomes whose commit response was lost are counted once', async () => {
  const { clock, recorder, state, writes } = createHarness();
  const before = await totals();
  const [good, bad, last] = await take(3);
  assert.ok(good && bad && last);
  state.losesAnswer = true;
  const done = [
    recorder.record(outcomeOf(good)),
    recorder.record(outcomeOf(bad, { result: 'rejected', status: 500, nextAttemptAt })),
    recorder.record(outcomeOf(last, { result: 'timeout', status: undefined })),
  ];
  await recorder.flush();
  clock.advance(1_000);
  await Promise.all(done);
  assert.equal(writes(), 2);
  assert.deepEqual(added(before, await totals()), { completed: 1, failed: 2, answers: 1 });
  assert.equal((await rowOf('deliveries', bad.guid)).attempt_count, 1);
});

test('of recorded and new outcomes in one batch only the new ones are counted', async () => {
  const { recorder, state, writes } = createHarness();
  const before = await totals();
  const [good, bad, laterGood, laterBad] = await take(4);
  assert.ok(good && bad && laterGood && laterBad);
  const failure = { result: 'rejected', status: 500, nextAttemptAt } as const;
  state.losesAnswer = true;
  const done = [recorder.record(outcomeOf(good)), recorder.record(outcomeOf(bad, failure))];
  await recorder.flush();
  done.push(recorder.record(outcomeOf(laterGood)), recorder.record(outcomeOf(laterBad, failure)));
  await recorder.flush();
  await Promise.all(done);
  assert.equal(writes(), 2);
  assert.deepEqual(added(before, await totals()), { completed: 2, failed: 2, answers: 2 });
});

test('a repeated failure does not overwrite the next attempt', async () => {
  const { clock, recorder, state } = createHarness();
  const before = await totals();
  const [delivery] = await take(1);
  assert.ok(delivery);
  state.losesAnswer = true;
  const done = recorder.record(outcomeOf(delivery, { result: 'rejected', nextAttemptAt }));
  await recorder.flush();
  await queries
    .updateTable('delivery_queue')
    .set({ leased_by: HOLDER })
    .where('delivery_guid', '=', delivery.guid)
    .execute();
  clock.advance(1_000);
  await done;
  assert.equal((await queued(delivery))?.leased_by, HOLDER, 'the second attempt is in flight');
  assert.deepEqual(added(before, await totals()), { completed: 0, failed: 1, answers: 0 });
});

test('a success of a delivery that another dispatcher completed is not counted again', async () => {
  const [slow, quick] = [createHarness(), createHarness()];
  const before = await totals();
  const [delivery] = await take(1, { holder: STRANGER });
  assert.ok(delivery);
  for (const { recorder } of [quick, slow]) {
    const done = recorder.record(outcomeOf(delivery));
    await recorder.flush();
    await done;
  }
  assert.deepEqual(added(before, await totals()), { completed: 1, failed: 0, answers: 1 });
});

/** The same in one batch. */
async function createBatch(deliveries: readonly Delivery[]): Promise<void> {
  const guids = deliveries.map(({ guid }) => guid);
  const batch = { guid: guids[0]?.replace(/^./, 'f') ?? '', left: guids.length };
  await queries.deleteFrom('delivery_queue').where('delivery_guid', 'in', guids).execute();
  await queries
    .insertInto('delivery_batches')
    .values({
      ...{ guid: batch.guid, subscription_guid: subscription.guid, leased_by: HOLDER },
      ...{ delivery_guids: guids, created_at: app.clock.now() },
    })
    .execute();
  for (const delivery of deliveries) delivery.batch = batch;
}

for (const rest of ['all of them', 'some of them']) {
  test(`of ${rest} in one batch, nothing is counted or queued twice`, async () => {
    const { clock, recorder, state } = createHarness();
    const before = await totals();
    const deliveries = await take(4);
    await createBatch(deliveries);
    const [good, bad, ended, left] = deliveries;
    assert.ok(good && bad && ended && left);
    state.losesAnswer = true;
    const failure = { result: 'rejected', nextAttemptAt } as const;
    const done = [
      recorder.record(outcomeOf(good)),
      recorder.record(outcomeOf(bad, failure)),
      recorder.record(outcomeOf(ended, failure)),
      ...(rest === 'all of them' ? [recorder.record(outcomeOf(left))] : []),
    ];
    await recorder.flush();
    // Another dispatcher made the second attempt before the first was recorded again.
    await queries.deleteFrom('delivery_queue').where('delivery_guid', '=', ended.guid).execute();
    await queries
      .updateTable('deliveries')
      .set({ completed_at: app.clock.now() })
      .where('guid', '=', ended.guid)
      .execute();
    clock.advance(1_000);
    await Promise.all(done);
    const successes = rest === 'all of them' ? 2 : 1;
    assert.deepEqual(added(before, await totals()), { completed: successes, failed: 2, answers: successes });
    assert.equal(await queued(ended), undefined);
    assert.deepEqual((await queued(bad))?.due_at, nextAttemptAt);
  });
}
