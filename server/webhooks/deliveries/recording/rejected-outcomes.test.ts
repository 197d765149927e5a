import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Delivery } from '../delivery.ts';
import { createRecording, HOLDER } from '../testing/recording.ts';

const { app, createHarness, take, outcomeOf, rowOf, queued, completed } = await createRecording();

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
