import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Transaction } from '../../../infrastructure/database/database.ts';
import { createRecording, GATHERED_MS, HOLDER, STRANGER } from '../testing/recording.ts';
import { completeBatched, completeDeliveries } from './record-store.ts';

const { app, queries, createHarness, take, outcomeOf, rowOf, queued, attemptsOf, completed } =
  await createRecording();

test('late_completed_at is set by a first success more than five minutes after the creation, and by no earlier one', async () => {
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

test('late_completed_at is set by a success after a failure', async () => {
  const { recorder } = createHarness();
  const [delivery] = await take(1);
  assert.ok(delivery);
  const failure = { result: 'rejected', status: 500, nextAttemptAt: app.clock.now() } as const;
  void recorder.record(outcomeOf(delivery, failure));
  await recorder.flush();
  assert.equal((await rowOf('deliveries', delivery.guid)).late_completed_at, null);
  await queries
    .updateTable('delivery_queue')
    .set({ leased_by: HOLDER })
    .where('delivery_guid', '=', delivery.guid)
    .execute();
  void recorder.record(outcomeOf({ ...delivery, attemptCount: 1 }));
  await recorder.flush();
  const { completed_at, late_completed_at } = await rowOf('deliveries', delivery.guid);
  assert.deepEqual([completed_at, late_completed_at], [app.clock.now(), app.clock.now()]);
});

test('a failure under a lost lease does not release a delivery that was claimed again', async () => {
  const { recorder } = createHarness();
  const [delivery] = await take(1);
  assert.ok(delivery);
  void recorder.record(outcomeOf(delivery, { result: 'timeout', nextAttemptAt: app.clock.now() }), STRANGER);
  await recorder.flush();
  assert.equal((await queued(delivery))?.leased_by, HOLDER);
  assert.equal((await rowOf('deliveries', delivery.guid)).attempt_count, 0);
});

test('a failure at an earlier URL, recorded after the change, holds the delivery back from no new one', async () => {
  const { recorder } = createHarness();
  const deliveries = await take(3);
  const [now, later] = [app.clock.now(), new Date(app.clock.now().getTime() + 600_000)];
  const earlier = { url: 'https://earlier.example' };
  const each = [{}, earlier, { ...earlier, pausedUntil: later }];
  for (const [index, delivery] of deliveries.entries()) {
    const failure = { result: 'rejected', status: 503, nextAttemptAt: later } as const;
    void recorder.record(outcomeOf(delivery, { ...failure, ...each[index] }));
  }
  await recorder.flush();
  const rows = await Promise.all(deliveries.map(queued));
  assert.deepEqual(
    rows.map((row) => [row?.due_at, row?.scheduled_at]),
    [
      [later, now],
      [now, now],
      [now, now],
    ],
  );
});

test('a success under a lost lease completes a delivery that was claimed again', async () => {
  const { recorder } = createHarness();
  const [delivery] = await take(1);
  assert.ok(delivery);
  void recorder.record(outcomeOf(delivery), STRANGER);
  await recorder.flush();
  assert.equal(await queued(delivery), undefined);
  assert.deepEqual((await rowOf('deliveries', delivery.guid)).completed_at, app.clock.now());
});

/** Of the deliveries, on this connection, since its statistics were reported. */
async function updatesSoFar(transaction: Transaction): Promise<{ all: number; hot: number }> {
  const { rows } = await sql<{ all: number; hot: number }>`
    select sum(n_tup_upd)::int as all, sum(n_tup_hot_upd)::int as hot
    from pg_stat_xact_user_tables where relname like 'deliveries%'`.execute(transaction);
  return rows[0] ?? { all: 0, hot: 0 };
}

for (const [what, complete] of Object.entries({ completeDeliveries, completeBatched }))
  test(`the success of a first attempt is a heap-only update (${what})`, async () => {
    const deliveries = await take(50);
    const outcomes = deliveries.map((delivery) => outcomeOf(delivery));
    const [before, after] = await app.database.transaction(async (transaction) => {
      const start = await updatesSoFar(transaction);
      if (complete === completeBatched) await completeBatched(transaction, outcomes);
      else await completeDeliveries(transaction, HOLDER, outcomes);
      return [start, await updatesSoFar(transaction)];
    });
    assert.equal(after.all - before.all, 50);
    // A page may have no space left.
    const hot = after.hot - before.hot;
    assert.ok(hot >= 45, `${hot} of 50`);
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

test('the last error of an endpoint stays when an earlier one is recorded later, and both count', async () => {
  const { recorder } = createHarness();
  const [newer, older] = await take(2);
  assert.ok(newer && older);
  const now = app.clock.now().getTime();
  for (const [delivery, endedAt] of [
    [newer, new Date(now + 60_000)],
    [older, new Date(now + 30_000)],
  ] as const) {
    void recorder.record(
      outcomeOf(delivery, { result: 'rejected', status: 418, endedAt, nextAttemptAt: endedAt }),
    );
    await recorder.flush();
  }
  const errors = await queries
    .selectFrom('endpoint_errors')
    .select(['count', 'last_at', 'delivery_guid', 'attempt_number'])
    .where('subscription_guid', '=', newer.subscriptionGuid)
    .where('status', '=', 418)
    .execute();
  const expected = {
    count: 2,
    last_at: new Date(now + 60_000),
    delivery_guid: newer.guid,
    attempt_number: 1,
  };
  assert.deepEqual(errors, [expected]);
});
