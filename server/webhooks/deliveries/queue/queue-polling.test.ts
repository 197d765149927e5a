import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '../../../../testing/fake-clock.ts';
import { createLog } from '../../../infrastructure/runtime/log.ts';
import { createQueuePolling } from './queue-polling.ts';

type Round = { progress: boolean; nextDueAt: Date | undefined };
const NOTHING: Round = { progress: false, nextDueAt: undefined };

/** Rounds that end at once with `answer`, or when the test ends them. */
function createHarness({ held = false } = {}) {
  const clock = createFakeClock(new Date(0));
  const begun: number[] = [];
  const ends: PromiseWithResolvers<Round>[] = [];
  const logged: string[] = [];
  let answer = (): Round => NOTHING;
  return {
    clock,
    /** When each round began. */
    begun,
    /** Of the polling that wait for the test, in their order. */
    ends,
    logged,
    /** What polling find from now on. */
    find(next: () => Round): void {
      answer = next;
    },
    /** Moves time and lets what follows from it happen. */
    async pass(ms: number): Promise<void> {
      clock.advance(ms);
      await turn();
    },
    polling: createQueuePolling({
      clock,
      timers: clock,
      log: createLog({
        level: 'warn',
        terminal: false,
        destination: { write: (line) => void logged.push(line) },
      }),
      async work() {
        begun.push(clock.now().getTime());
        if (!held) return answer();
        const end = Promise.withResolvers<Round>();
        ends.push(end);
        return end.promise;
      },
    }),
  };
}

test('nothing happens until somebody wakes it', async () => {
  const { begun, pass } = createHarness();
  await pass(10_000);
  assert.deepEqual(begun, []);
});

test('once is one round and tells whether it found something', async () => {
  const harness = createHarness();
  assert.equal(await harness.polling.once(), false);
  harness.find(() => ({ progress: true, nextDueAt: undefined }));
  assert.equal(await harness.polling.once(), true);
  assert.equal(harness.begun.length, 2);
});

test('many who wake at once are one round', async () => {
  const { polling, clock, begun, pass } = createHarness();
  for (let i = 0; i < 100; i++) polling.wake();
  assert.equal(clock.waiting(), 1);
  await pass(10);
  assert.equal(begun.length, 1);
});

test('polling are ten milliseconds apart, however often somebody wakes', async () => {
  const { polling, begun, pass } = createHarness();
  polling.wake();
  for (let ms = 0; ms < 100; ms++) {
    await pass(1);
    polling.wake();
  }
  assert.ok(begun.length >= 9, `${begun.length} polling`);
  const gaps = begun.slice(1).map((at, index) => at - (begun[index] ?? 0));
  assert.deepEqual(new Set(gaps), new Set([10]));
});

test('after a round that found something the next one follows as soon as it may', async () => {
  const harness = createHarness();
  let left = 3;
  harness.find(() => ({ progress: left-- > 0, nextDueAt: undefined }));
  harness.polling.wake();
  for (let ms = 0; ms < 100; ms++) await harness.pass(1);
  assert.deepEqual(
    harness.begun.map((at) => at - (harness.begun[0] ?? 0)),
    [0, 10, 20, 30],
  );
});

test('a round follows at the moment when something comes due', async () => {
  const harness = createHarness();
  harness.find(() => ({ progress: false, nextDueAt: new Date(412) }));
  await harness.polling.once();
  await harness.pass(411);
  assert.equal(harness.begun.length, 1);
  await harness.pass(1);
  assert.deepEqual(harness.begun, [0, 412]);
});

test('what was due before is looked at again as soon as it may be, not at once', async () => {
  const harness = createHarness();
  harness.clock.advance(5_000);
  harness.find(() => ({ progress: false, nextDueAt: new Date(1_000) }));
  await harness.polling.once();
  await harness.pass(9);
  assert.equal(harness.begun.length, 1);
  await harness.pass(1);
  assert.equal(harness.begun.length, 2);
});

test('with nothing due, or not for long, a round follows every second', async () => {
  for (const nextDueAt of [undefined, new Date(3_600_000)]) {
    const harness = createHarness();
    harness.find(() => ({ progress: false, nextDueAt }));
    await harness.polling.once();
    for (let i = 0; i < 3; i++) await harness.pass(1_000);
    assert.deepEqual(harness.begun, [0, 1_000, 2_000, 3_000]);
  }
});

test('the earliest of what was asked for counts', async () => {
  const { polling, clock, begun, pass } = createHarness();
  await polling.once();
  polling.wakeAt(new Date(700));
  polling.wakeAt(new Date(300));
  polling.wakeAt(new Date(500));
  assert.equal(clock.waiting(), 1);
  await pass(299);
  assert.equal(begun.length, 1);
  await pass(1);
  assert.deepEqual(begun, [0, 300]);
});

test('an error is told, and the next round is a second later', async () => {
  const harness = createHarness();
  harness.find(() => {
    throw new Error('the database is away');
  });
  assert.equal(await harness.polling.once(), false);
  assert.match(harness.logged.join(), /the database is away/);
  await harness.pass(999);
  assert.equal(harness.begun.length, 1);
  harness.find(() => NOTHING);
  await harness.pass(1);
  assert.deepEqual(harness.begun, [0, 1_000]);
  await harness.pass(1_000);
  assert.deepEqual(harness.begun, [0, 1_000, 2_000]);
  assert.equal(harness.logged.length, 1);
});

test('never two polling at once: whoever asks for one meanwhile gets a new one afterwards', async () => {
  const { polling, begun, ends } = createHarness({ held: true });
  const asked = [polling.once(), polling.once(), polling.once()];
  await turn();
  for (let index = 0; index < 3; index++) {
    assert.equal(begun.length, index + 1);
    ends[index]?.resolve({ progress: index === 1, nextDueAt: undefined });
    await turn();
  }
  assert.deepEqual(await Promise.all(asked), [false, true, false]);
});

test('who wakes during a round gets one more, and only one however many they are', async () => {
  const { polling, begun, ends, pass } = createHarness({ held: true });
  const first = polling.once();
  for (let ms = 0; ms < 50; ms++) {
    polling.wake();
    await pass(1);
  }
  ends[0]?.resolve(NOTHING);
  await first;
  for (let ms = 0; ms < 50; ms++) await pass(1);
  assert.equal(begun.length, 2);
  ends[1]?.resolve(NOTHING);
  for (let ms = 0; ms < 50; ms++) await pass(1);
  assert.equal(begun.length, 2, 'those who woke before it began are content');
});

test('a round that somebody woke for during another keeps its distance, too', async () => {
  const { polling, begun, ends, pass } = createHarness({ held: true });
  const first = polling.once();
  polling.wake();
  await pass(50);
  ends[0]?.resolve(NOTHING);
  await first;
  await pass(9);
  assert.deepEqual(begun, [0]);
  await pass(1);
  assert.deepEqual(begun, [0, 60]);
});

test('waking again does not put off the round that is due: timers are late when there is much to do', async () => {
  const clock = createFakeClock(new Date(1_000_000));
  const set: { action(): void; cancelled: boolean }[] = [];
  let begun = 0;
  const polling = createQueuePolling({
    clock,
    timers: {
      after(_ms, action) {
        const timer = { action, cancelled: false };
        set.push(timer);
        return () => {
          timer.cancelled = true;
        };
      },
    },
    log: createLog({ level: 'silent', terminal: false }),
    async work() {
      begun += 1;
      return NOTHING;
    },
  });
  polling.wake();
  for (let ms = 0; ms < 20; ms++) {
    clock.advance(1);
    polling.wake();
  }
  assert.deepEqual(
    set.map(({ cancelled }) => cancelled),
    [false],
  );
  set[0]?.action();
  assert.equal(begun, 1);
});

test('a clock that is set back costs no more than a second', async () => {
  const { polling, clock, begun, pass } = createHarness();
  clock.advance(3_600_000);
  await polling.once();
  clock.set(new Date(0));
  polling.wake();
  await pass(1_000);
  assert.equal(begun.length, 2);
});

test('stop waits for the round under way, and no other follows', async () => {
  const { polling, clock, begun, ends, pass } = createHarness({ held: true });
  polling.wake();
  await pass(10);
  polling.wake();
  await pass(10);
  let stopped = false;
  const stopping = polling.stop().then(() => {
    stopped = true;
  });
  await turn();
  assert.equal(stopped, false);
  ends[0]?.resolve({ progress: true, nextDueAt: undefined });
  await stopping;
  polling.wake();
  polling.wakeAt(clock.now());
  await pass(10_000);
  assert.equal(begun.length, 1);
  assert.equal(clock.waiting(), 0);
});

test('stop ends the waiting as well', async () => {
  const { polling, clock } = createHarness();
  await polling.once();
  assert.equal(clock.waiting(), 1);
  await polling.stop();
  assert.equal(clock.waiting(), 0);
});
