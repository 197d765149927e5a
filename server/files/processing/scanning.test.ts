import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import {
  createFile,
  createFileOwner,
  inline,
  PNG,
  showFile,
  storedIn,
} from '../../../testing/objects/files.ts';
import { alertsOf } from '../../../testing/people/alerts.ts';
import { metricOf, until } from '../../../testing/webhooks/webhooks.ts';
import { createClamdDouble } from './content/testing/clamd-double.ts';

/** The effect of scan results on files; the protocol is tested with the scanner. */
async function createScannedApp(behaviour: Parameters<typeof createClamdDouble>[0] = {}) {
  const clamd = await createClamdDouble(behaviour);
  after(() => clamd.close());
  const app = await createTestApp({ environment: { PORTICO_CLAMD: clamd.address } });
  return { app, owner: await createFileOwner(app), clamd };
}

test('infected content fails, is deleted and raises an alert; clean content is completed', async () => {
  const { app, owner } = await createScannedApp();
  const bad = await createFile(app, owner, inline(Buffer.concat([PNG, Buffer.from('EICAR')])));
  const good = await createFile(app, owner, inline(PNG));
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, bad.guid)).failure_code, 'infected');
  assert.equal((await showFile(app, owner, good.guid)).state, 'completed');
  assert.deepEqual(await storedIn(app), [good.guid]);
  const alerts = await alertsOf(app, owner.organizationGuid, { query: '&type=file.infected' });
  assert.deepEqual(
    alerts.map(({ details, environment }) => [details.file_guid, details.customer_guid, environment]),
    [[bad.guid, owner.customerGuid, 'sandbox']],
  );
});

test('content over the limit of clamd fails as too_large', async () => {
  const { app, owner } = await createScannedApp({ maxBytes: 10 });
  const { guid } = await createFile(app, owner, inline(PNG));
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).failure_code, 'too_large');
  assert.deepEqual(await storedIn(app), []);
});

test('content of the wrong type is not scanned', async () => {
  const { app, owner, clamd } = await createScannedApp();
  const { guid } = await createFile(app, owner, inline('EICAR'));
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).failure_code, 'content_type_mismatch');
  assert.deepEqual(clamd.conversations, []);
});

test('files stay storing while clamd gives no usable reply, and are completed afterwards', async () => {
  const behaviour = { hangsUp: 'at once' as const };
  const { app, owner } = await createScannedApp(behaviour);
  const { guid } = await createFile(app, owner, inline(PNG));
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).state, 'storing');
  assert.equal(await metricOf(app, 'portico_files_waiting'), 1);
  Reflect.deleteProperty(behaviour, 'hangsUp');
  app.clock.advance(6_000);
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).state, 'completed');
  assert.equal(await metricOf(app, 'portico_files_waiting'), 0);
});

test('the lease is renewed during a long scan', async () => {
  const { app, owner, clamd } = await createScannedApp({ answer: '' });
  const { guid } = await createFile(app, owner, inline(PNG));
  app.fileProcessing.start();
  await until(() => clamd.conversations.length === 1 && clamd.conversations[0]?.isWhole === true);
  const leaseOf = () =>
    app.database.queries
      .selectFrom('files')
      .select('next_look_at')
      .where('guid', '=', guid)
      .executeTakeFirstOrThrow();
  const before = (await leaseOf()).next_look_at?.getTime() ?? 0;
  app.clock.advance(20_000);
  await until(async () => (await leaseOf()).next_look_at?.getTime() === before + 20_000, 'renewed');
  assert.equal(clamd.conversations.length, 1, 'no other node has claimed it');
});

test('a node that lost the lease aborts the scan and writes nothing', async () => {
  const { app, owner, clamd } = await createScannedApp({ answer: '' });
  const { guid } = await createFile(app, owner, inline(PNG));
  app.fileProcessing.start();
  await until(
    () => clamd.conversations[0]?.isWhole === true,
    'clamd has the whole content and has not replied',
  );
  const taken = { next_look_at: new Date(app.clock.now().getTime() + 70_000), leased_by: 'f'.repeat(32) };
  await app.database.queries.updateTable('files').set(taken).where('guid', '=', guid).execute();
  app.clock.advance(20_000);
  await until(() => clamd.openConnections() === 0, 'the scan was aborted');
  await app.fileProcessing.stop();
  const row = await app.database.queries
    .selectFrom('files')
    .select(['next_look_at', 'leased_by'])
    .where('guid', '=', guid)
    .executeTakeFirstOrThrow();
  assert.deepEqual(row, taken);
  assert.ok(app.logged.some((line) => line.includes('lost the lease on a file')));
});

test('stopping during a scan releases the file at once', async () => {
  const { app, owner, clamd } = await createScannedApp({ answer: '' });
  const { guid } = await createFile(app, owner, inline(PNG));
  app.fileProcessing.start();
  await until(
    () => clamd.conversations[0]?.isWhole === true,
    'clamd has the whole content and has not replied',
  );
  await app.fileProcessing.stop();
  const row = await app.database.queries
    .selectFrom('files')
    .select(['next_look_at', 'leased_by'])
    .where('guid', '=', guid)
    .executeTakeFirstOrThrow();
  assert.deepEqual(row, { next_look_at: app.clock.now(), leased_by: null });
});
