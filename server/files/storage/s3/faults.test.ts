import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Secret } from '../../../infrastructure/runtime/secret.ts';
import { StorageError } from '../storage.ts';
import { newGuid, noneAwaited, piecesOf } from '../testing/storage-suite.ts';
import { createStore, storageOn, upload } from './testing/storage.ts';

const TERMS = { contentType: 'image/png', maxBytes: 1_000 };

test('a put whose response was lost recognises its own object', async () => {
  const { storage, double } = await createStore();
  let isLost = false;
  double.setFault(({ headers }) => {
    if (isLost || headers['if-none-match'] !== '*') return undefined;
    isLost = true;
    return 'lose answer';
  });
  assert.equal(await storage.put(newGuid(), piecesOf(Buffer.alloc(10)), TERMS), 'stored');
  assert.ok(isLost);
});

test('a refused request is retried; repeated refusal is a StorageError', async () => {
  const { storage, double } = await createStore();
  let refusals = 2;
  double.setFault(() => (refusals-- > 0 ? 'refuse' : undefined));
  assert.equal(await storage.put(newGuid(), piecesOf(Buffer.from('content')), TERMS), 'stored');
  double.setFault(() => 'refuse');
  const guid = newGuid();
  await assert.rejects(storage.put(guid, piecesOf(Buffer.from('content')), TERMS), StorageError);
  await assert.rejects(storage.head(guid), StorageError);
  await assert.rejects(storage.read(guid), StorageError);
  await assert.rejects(storage.delete(guid), StorageError);
  await assert.rejects(storage.sweepTemporary(new Date(), noneAwaited), StorageError);
});

test('an upload that cannot be deleted keeps no other, and is reported', async () => {
  const { storage, double, expiresAt, clock, objects } = await createStore();
  const [bad, good] = [newGuid(), newGuid()];
  for (const guid of [bad, good])
    await upload(
      await storage.uploadUrl({ guid, organizationGuid: newGuid(), ...TERMS, expiresAt }),
      'image/png',
      'x',
    );
  double.setFault(({ method, path }) => (method === 'DELETE' && path.includes(bad) ? 'refuse' : undefined));
  clock.advance(1);
  await assert.rejects(storage.sweepTemporary(clock.now(), noneAwaited), StorageError);
  assert.deepEqual([...objects.keys()], [`uploads/${bad}`]);
});

test('an unreachable store or a wrong key is a StorageError without the secret', async () => {
  const { double } = await createStore();
  const unknown = storageOn({ ...double.settings, secretAccessKey: new Secret('another-secret') });
  const away = storageOn({ ...double.settings, endpoint: 'http://127.0.0.1:1' });
  for (const storage of [unknown, away]) {
    after(() => storage.close());
    await assert.rejects(storage.put(newGuid(), piecesOf(Buffer.from('content')), TERMS), (error) => {
      assert.ok(error instanceof StorageError);
      assert.doesNotMatch(error.message, /another-secret|test-secret/);
      return true;
    });
  }
});

test('requests carry no checksums that only some stores support', async () => {
  const { storage, double, expiresAt } = await createStore();
  const guid = newGuid();
  await storage.put(guid, piecesOf(Buffer.from('content')), TERMS);
  const names = double.requests.flatMap(({ headers }) => Object.keys(headers));
  const url = await storage.uploadUrl({ guid, organizationGuid: newGuid(), ...TERMS, expiresAt });
  assert.doesNotMatch(`${names} ${url}`, /checksum|trailer|crc/i);
});
