import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createLog } from '../runtime/log.ts';
import { createPolling } from './polling.ts';

type Poll = { progress: boolean; nextDueAt: Date | undefined };
const NOTHING: Poll = { progress: false, nextDueAt: undefined };

const SETTINGS = { maxIntervalMs: 1_000, minIntervalMs: 10, failureMessage: 'could not read the queue' };

/** Polls return `answer` immediately, or with `held` when the test resolves them. */
function createHarness({ held = false } = {}) {
  const clock = createFakeClock(new Date(0));
  const begun: number[] = [];
  const ends: PromiseWithResolvers<Poll>[] = [];
  const logged: string[] = [];
  let answer = (): Poll => NOTHING;
  return {
    clock,
    /** Start time of each poll. */
    begun,
    /** Held polls, in order. */
    ends,
    logged,
    find(next: () => Poll): void {
      answer = next;
    },
    async pass(ms: number): Promise<void> {
      clock.advance(ms);
      await turn();
    },
    polling: createPolling({
      ...SETTINGS,
      clock,
      timers: clock,
      log: createLog({
        level: 'warn',
        terminal: false,
        destination: { write: (line) => void logged.push(line) },
      }),
      async poll() {
        begun.push(clock.now().getTime());
        if (!held) return answer();
        const end = Promise.withResolvers<Poll>();
        ends.push(end);
        return end.promise;
      },
    }),
  };
}

test('polling does not start before the first wake', async () => {
  const { begun, pass } = createHarness();
  await pass(10_000);
  assert.deepEqual(begun, []);
});

test('once polls one time and returns whether work was found', async () => {
  const harness = createHarness();
  assert.equal(await harness.polling.once(), false);
  harness.find(() => ({ progress: true, nextDueAt: undefined }));
  assert.equal(await harness.polling.once(), true);
  assert.equal(harness.begun.length, 2);
});

test('concurrent wakes share one poll', async () => {
  const { polling, clock, begun, pass } = createHarness();
  for (let i = 0; i < 100; i++) polling.wake();
  assert.equal(clock.waiting(), 1);
  await pass(10);
  assert.equal(begun.length, 1);
});

test('polls keep the minimum interval however often wake is called', async () => {
  const { polling, begun, pass } = createHarness();
  polling.wake();
  for (let ms = 0; ms < 100; ms++) {
    await pass(1);
    polling.wake();
  }
  assert.ok(begun.length >= 9, `${begun.length} polls`);
  const gaps = begun.slice(1).map((at, index) => at - (begun[index] ?? 0));
  assert.deepEqual(new Set(gaps), new Set([10]));
});

test('a poll that found work is followed by the next after the minimum interval', async () => {
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

test('the next poll runs when the next entry is due', async () => {
  const harness = createHarness();
  harness.find(() => ({ progress: false, nextDueAt: new Date(412) }));
  await harness.polling.once();
  await harness.pass(411);
  assert.equal(harness.begun.length, 1);
  await harness.pass(1);
  assert.deepEqual(harness.begun, [0, 412]);
});

test('an overdue entry is polled again after the minimum interval', async () => {
  const harness = createHarness();
  harness.clock.advance(5_000);
  harness.find(() => ({ progress: false, nextDueAt: new Date(1_000) }));
  await harness.polling.once();
  await harness.pass(9);
  assert.equal(harness.begun.length, 1);
  await harness.pass(1);
  assert.equal(harness.begun.length, 2);
});

test('without an entry due soon, polls follow each other at the maximum interval', async () => {
  for (const nextDueAt of [undefined, new Date(3_600_000)]) {
    const harness = createHarness();
    harness.find(() => ({ progress: false, nextDueAt }));
    await harness.polling.once();
    for (let i = 0; i < 3; i++) await harness.pass(1_000);
    assert.deepEqual(harness.begun, [0, 1_000, 2_000, 3_000]);
  }
});

test('the earliest requested time wins', async () => {
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

test('a failed poll is logged and retried after a second', async () => {
  const harness = createHarness();
  harness.find(() => {
    throw new Error('connection refused');
  });
  assert.equal(await harness.polling.once(), false);
  assert.match(harness.logged.join(), /connection refused/);
  await harness.pass(999);
  assert.equal(harness.begun.length, 1);
  harness.find(() => NOTHING);
  await harness.pass(1);
  assert.deepEqual(harness.begun, [0, 1_000]);
  await harness.pass(1_000);
  assert.deepEqual(harness.begun, [0, 1_000, 2_000]);
  assert.equal(harness.logged.length, 1);
});

test('polls never overlap: each call of once during a poll gets a poll of its own', async () => {
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

test('any number of wakes during a poll lead to one further poll', async () => {
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
  assert.equal(begun.length, 2, 'no third poll');
});

test('a poll requested during another keeps the minimum interval', async () => {
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

test('waking again does not postpone the scheduled poll when timers fire late', async () => {
  const clock = createFakeClock(new Date(1_000_000));
  const set: { action(): void; cancelled: boolean }[] = [];
  let begun = 0;
  const polling = createPolling({
    ...SETTINGS,
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
    async poll() {
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

test('a clock that is set back delays polling by one interval at most', async () => {
  const { polling, clock, begun, pass } = createHarness();
  clock.advance(3_600_000);
  await polling.once();
  clock.set(new Date(0));
  polling.wake();
  await pass(1_000);
  assert.equal(begun.length, 2);
});

test('stop waits for the poll in progress and prevents further polls', async () => {
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

test('stop cancels the scheduled poll', async () => {
  const { polling, clock } = createHarness();
  await polling.once();
  assert.equal(clock.waiting(), 1);
  await polling.stop();
  assert.equal(clock.waiting(), 0);
});
