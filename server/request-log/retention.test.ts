import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../testing/app/fake-clock.ts';
import { openTestDatabase } from '../../testing/database/database.ts';
import { createPartitions, REQUEST_LOG_TABLE } from '../infrastructure/database/partitions/partitions.ts';

const DAY_MS = 86_400_000;
/** In the past, because the database drops only partitions that are old by its own clock. */
const START = new Date('2020-11-15T12:00:00.000Z');

test('a day of the log is created two days ahead and dropped seven days after its end', async () => {
  const { database, log } = await openTestDatabase();
  const clock = createFakeClock(START);
  const tables = [REQUEST_LOG_TABLE];
  const retention = { retentionDays: 30, auditRetentionDays: 400 };
  const partitions = createPartitions({ database, clock, log, ...retention, tables });
  await partitions.prepare();
  clock.set(new Date('2020-11-22T23:59:59.999Z'));
  assert.deepEqual(await partitions.dropOld(), ['request_log_2020_11_14']);
  clock.advance(1);
  assert.deepEqual(await partitions.dropOld(), ['request_log_2020_11_15']);
  clock.advance(2 * DAY_MS);
  assert.deepEqual(await partitions.dropOld(), ['request_log_2020_11_16', 'request_log_2020_11_17']);
});
