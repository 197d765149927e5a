import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Delivery } from '../delivery.ts';
import { createRecording, GATHERED_MS } from '../testing/recording.ts';

const { createHarness, take, outcomeOf, completed } = await createRecording();

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

test('outcomes that arrive during a failing write do not shorten the pause before the next one', async () => {
  const { clock, recorder, state, writes, logged } = createHarness();
  const deliveries = await take(5);
  state.away = true;
  const held = Promise.withResolvers<void>();
  state.hold = held.promise;
  const recorded: Promise<void>[] = [];
  for (const delivery of deliveries) {
    recorded.push(recorder.record(outcomeOf(delivery)));
    clock.advance(GATHERED_MS);
    await turn();
  }
  held.resolve();
  while (logged.length === 0) await turn();
  clock.advance(1_000 - GATHERED_MS);
  await turn();
  assert.equal(writes(), 1);
  state.away = false;
  clock.advance(GATHERED_MS);
  await Promise.all(recorded);
  assert.equal(writes(), 2);
  assert.equal(await completed(deliveries), 5);
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
