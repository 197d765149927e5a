import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createMetrics } from './metrics.ts';

test('a reader that waits for the database does not keep the other metrics back', async () => {
  const clock = createFakeClock();
  const metrics = createMetrics({ timers: clock });
  metrics.onRead(() => new Promise(() => {}));
  metrics.onRead(async () => metrics.deliveriesHeld.set(3));
  metrics.deniedCalls.inc();
  const reading = metrics.read();
  clock.advance(2_000);
  const text = await reading;
  assert.match(text, /^portico_denied_calls_total 1$/m);
  assert.match(text, /^portico_deliveries_held 3$/m);
});
