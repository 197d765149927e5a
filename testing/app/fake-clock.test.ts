import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFakeClock } from './fake-clock.ts';

test('timers run at their times, in order, and only once', () => {
  const clock = createFakeClock(new Date(0));
  const ran: [string, number][] = [];
  const set = (name: string, ms: number) => clock.after(ms, () => ran.push([name, clock.now().getTime()]));
  set('late', 30);
  set('early', 10);
  set('same', 10);
  set('never yet', 41);
  clock.advance(9);
  assert.deepEqual(ran, []);
  clock.advance(31);
  assert.deepEqual(ran, [
    ['early', 10],
    ['same', 10],
    ['late', 30],
  ]);
  assert.equal(clock.now().getTime(), 40);
  assert.equal(clock.waiting(), 1);
  clock.set(new Date(41));
  assert.deepEqual(ran.at(-1), ['never yet', 41]);
  assert.equal(clock.waiting(), 0);
});

test('a timer set by a timer runs in the same advance when it becomes due', () => {
  const clock = createFakeClock(new Date(0));
  const ticks: number[] = [];
  function tick(): void {
    ticks.push(clock.now().getTime());
    clock.after(10, tick);
  }
  clock.after(10, tick);
  clock.advance(35);
  assert.deepEqual(ticks, [10, 20, 30]);
  assert.equal(clock.waiting(), 1);
});

test('advancing by zero runs timers that are due at once', () => {
  const clock = createFakeClock();
  let ran = 0;
  clock.after(0, () => {
    ran += 1;
  });
  assert.equal(ran, 0);
  clock.advance(0);
  assert.equal(ran, 1);
});

test('a cancelled timer does not run, also when another timer cancels it', () => {
  const clock = createFakeClock();
  let ran = 0;
  const count = () => {
    ran += 1;
  };
  const cancelled = clock.after(5, count);
  cancelled();
  cancelled();
  const later = clock.after(7, count);
  clock.after(6, later);
  clock.advance(100);
  assert.equal(ran, 0);
  assert.equal(clock.waiting(), 0);
});

test('setting time back runs nothing, and timers keep their times', () => {
  const clock = createFakeClock(new Date(1_000));
  const ran: number[] = [];
  clock.after(10, () => ran.push(clock.now().getTime()));
  clock.set(new Date(500));
  assert.deepEqual(ran, []);
  clock.advance(510);
  assert.deepEqual(ran, [1_010]);
});

test('advance throws the error of a timer; the others run at the next advance', () => {
  const clock = createFakeClock(new Date(0));
  let ran = false;
  clock.after(5, () => {
    throw new Error('a bug');
  });
  clock.after(6, () => {
    ran = true;
  });
  assert.throws(() => clock.advance(10), /a bug/);
  assert.equal(clock.now().getTime(), 5);
  clock.advance(1);
  assert.ok(ran);
});

test('one step or many, the same timers run at the same times', () => {
  const delays = fc.array(fc.nat({ max: 50 }), { maxLength: 20 });
  const steps = fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(delays, steps, (timers, parts) => {
      const run = (moves: readonly number[]) => {
        const clock = createFakeClock(new Date(0));
        const ran: [number, number][] = [];
        timers.forEach((ms, index) => {
          clock.after(ms, () => ran.push([index, clock.now().getTime()]));
        });
        for (const ms of moves) clock.advance(ms);
        return { ran, now: clock.now(), waiting: clock.waiting() };
      };
      assert.deepEqual(run(parts), run([parts.reduce((sum, part) => sum + part, 0)]));
    }),
  );
});
