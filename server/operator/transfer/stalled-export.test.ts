import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { createTestApp } from '../../../testing/app/app.ts';
import { KEY, operator } from '../../../testing/app/cells.ts';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createCustomer } from '../../../testing/objects/customers.ts';
import { until } from '../../../testing/webhooks/webhooks.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import { createReaderWatch } from './reader-watch.ts';

const STALLED = /the reader accepted nothing for 120 seconds/;
const app = await createTestApp();

test('an export that is not read ends its snapshot', async () => {
  const { organizationGuid, bankGuid } = await createTenant(app);
  const customerGuid = await createCustomer(app, bankGuid);
  // Does not compress, so that it fills the buffers.
  const noise = randomBytes(512 * 1024).toString('base64');
  await sql`
    update objects set details = details || jsonb_build_object('noise', ${noise}::text)
    where guid = ${customerGuid}`.execute(app.database.queries);
  const file = await app.transfers.export(operator, organizationGuid, KEY);
  assert.ok(!isFailure(file));
  const failed = once(file, 'error') as Promise<[Error]>;
  const snapshots = async () => {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'portico transfer'`.execute(
      app.database.queries,
    );
    return rows.length;
  };
  await until(() => file.readableLength > 0, 'bytes that wait for the reader');
  assert.equal(await snapshots(), 1);
  app.clock.advance(240_000);
  const [error] = await failed;
  assert.match(error.message, STALLED);
  await until(async () => (await snapshots()) === 0, 'the end of the snapshot');
});

test('a complete export that is not read ends without an unhandled error', async () => {
  const { organizationGuid } = await createTenant(app);
  const file = await app.transfers.export(operator, organizationGuid, KEY);
  assert.ok(!isFailure(file));
  await until(() => app.logged.some((line) => line.includes('exported an Organization')), 'the copy');
  app.clock.advance(240_000);
  await until(() => file.closed, 'the end of the stream');
  assert.match(String(file.errored?.message), STALLED);
});

test('a slow reader and a slow export are waited for', async () => {
  const clock = createFakeClock();
  const output = createReaderWatch(clock);
  for (let minute = 0; minute < 10; minute += 2) {
    output.write('some rows');
    assert.equal(output.read(1)?.length, 1, 'one byte is enough');
    clock.advance(120_000);
  }
  while (output.read() !== null) await setImmediate();
  clock.advance(600_000);
  assert.equal(output.destroyed, false, 'nothing waits');
  output.end();
  output.resume();
  await once(output, 'close');
  assert.equal(clock.waiting(), 0);
});

test('a reader that accepts nothing is given up after two checks', async () => {
  const clock = createFakeClock();
  const output = createReaderWatch(clock);
  Readable.from(['some rows']).pipe(output, { end: false });
  await once(output, 'readable');
  clock.advance(239_999);
  assert.equal(output.destroyed, false);
  clock.advance(1);
  const [error] = (await once(output, 'error')) as [Error];
  assert.match(error.message, STALLED);
});
