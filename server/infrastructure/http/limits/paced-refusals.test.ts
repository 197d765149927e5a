import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { createFakeClock, type FakeClock } from '../../../../testing/app/fake-clock.ts';
import { createPacedRefusals, type PacedRefusals } from './paced-refusals.ts';

let clock: FakeClock;
let refuse: PacedRefusals;
let answered = 0;

beforeEach(() => {
  clock = createFakeClock();
  refuse = createPacedRefusals({ clock, timers: clock });
  answered = 0;
});

function refuseMany(count: number, organizationGuid = 'a'): number {
  answered = 0;
  for (let i = 0; i < count; i++) refuse(organizationGuid, () => (answered += 1));
  return answered;
}

test('the first hundred rejections are sent at once, then a hundred per second', () => {
  assert.equal(refuseMany(350), 101);
  for (const total of [201, 301, 350]) {
    clock.advance(1_000);
    assert.equal(answered, total);
  }
});

test('other Organizations are not delayed, nor is the same one after a pause', () => {
  refuseMany(350);
  assert.equal(refuseMany(50, 'b'), 50);
  clock.advance(10_000);
  assert.equal(refuseMany(100), 100);
});

test('a rejection that would wait more than five seconds is sent at once', () => {
  assert.equal(refuseMany(2_000), 101 + 2_000 - 601);
});

test('rejections are paced again after the clock was set back', () => {
  refuseMany(350);
  clock.advance(-3_600_000);
  assert.equal(refuseMany(350), 101);
});
