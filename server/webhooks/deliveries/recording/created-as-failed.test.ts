import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { openTestDatabase } from '../../../../testing/database/database.ts';
import type { Database } from '../../../infrastructure/database/database.ts';
import { createLog } from '../../../infrastructure/runtime/log.ts';
import { createMetrics } from '../../../infrastructure/runtime/metrics.ts';
import { createCreatedAsFailed } from './created-as-failed.ts';

const { database } = await openTestDatabase();

function createHarness(failing: Partial<Database>) {
  const clock = createFakeClock();
  const counts = createCreatedAsFailed({
    ...{ database: { ...database, ...failing }, timers: clock, metrics: createMetrics() },
    log: createLog({ level: 'silent', terminal: false }),
  });
  return { clock, counts };
}

const countersOf = (guid: string) =>
  database.queries
    .selectFrom('delivery_counters')
    .select(['failed', 'failed_attempts'])
    .where('subscription_guid', '=', guid)
    .execute();

test('counts are written once, five seconds after the first, and again after a failed write', async () => {
  let writes = 0;
  const { clock, counts } = createHarness({
    async transaction(work) {
      writes += 1;
      if (writes === 1) throw new Error('no connection');
      return database.transaction(work);
    },
  });
  const guid = '1'.repeat(32);
  counts.note(guid, clock.now(), 2);
  clock.advance(4_999);
  assert.equal(writes, 0);
  clock.advance(1);
  await turn();
  counts.note(guid, clock.now(), 3);
  clock.advance(5_000);
  await counts.flush();
  await counts.flush({ last: true });
  assert.equal(writes, 2);
  assert.equal(clock.waiting(), 0);
  assert.deepEqual(await countersOf(guid), [{ failed: 5, failed_attempts: 0 }]);
});

test('counts whose commit has an unknown result are not written again', async () => {
  let isBroken = true;
  const { clock, counts } = createHarness({
    async transaction(work) {
      const result = await database.transaction(work);
      if (!isBroken) return result;
      throw new Error('Connection terminated unexpectedly');
    },
    onEnd: (transaction, action) => database.onEnd(transaction, () => action('unknown')),
  });
  const guid = '2'.repeat(32);
  counts.note(guid, clock.now(), 2);
  await counts.flush();
  isBroken = false;
  await counts.flush();
  assert.deepEqual(await countersOf(guid), [{ failed: 2, failed_attempts: 0 }]);
});
