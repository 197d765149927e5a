import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Delivery } from '../delivery.ts';
import { createRecording, HOLDER, STRANGER } from '../testing/recording.ts';

const { app, queries, subscription, createHarness, take, outcomeOf, rowOf, queued } = await createRecording();

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

test('two outcomes of one delivery are counted once (found by seed 13 of the simulation)', async () => {
  const { recorder } = createHarness();
  const before = await totals();
  const [good, bad] = await take(2);
  assert.ok(good && bad);
  const failure = { result: 'rejected', status: 500, nextAttemptAt } as const;
  const outcomes = [outcomeOf(good), outcomeOf(good), outcomeOf(bad, failure), outcomeOf(bad, failure)];
  const done = outcomes.map((outcome) => recorder.record(outcome));
  await recorder.flush();
  await Promise.all(done);
  assert.deepEqual(added(before, await totals()), { completed: 1, failed: 1, answers: 1 });
  assert.equal((await rowOf('deliveries', bad.guid)).attempt_count, 1);
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
