import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { createPace } from './pace.ts';

const LIMITS = { pausePerRun: 20, maxPauseMs: 10_000 };

function createHarness() {
  const clock = createFakeClock();
  const pace = createPace(clock, LIMITS);
  const run = (ms: number) => pace.run(async () => clock.advance(ms));
  const pauseMs = () => (pace.pausedUntil()?.getTime() ?? clock.now().getTime()) - clock.now().getTime();
  return { clock, run, pauseMs };
}

test('a run is followed by a pause of a multiple of its duration', async () => {
  const { clock, run, pauseMs } = createHarness();
  assert.equal(pauseMs(), 0);
  await run(0);
  assert.equal(pauseMs(), 0);
  await run(30);
  assert.equal(pauseMs(), 600);
  clock.advance(600);
  assert.equal(pauseMs(), 0);
});

test('the pause has a limit, also after the clock was set back', async () => {
  const { clock, run, pauseMs } = createHarness();
  await run(60_000);
  assert.equal(pauseMs(), LIMITS.maxPauseMs);
  clock.set(new Date(clock.now().getTime() - 1));
  assert.equal(pauseMs(), 0);
});
