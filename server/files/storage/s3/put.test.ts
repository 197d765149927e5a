import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilTrue } from '../../../../testing/app/http-server.ts';
import { StorageError } from '../storage.ts';
import { newGuid, noneAwaited, piecesOf } from '../testing/storage-suite.ts';
import { createStore } from './testing/storage.ts';

/** Content of several parts, as an import stores it. */
const PART_BYTES = 8 * 1_048_576;
const SIZE = PART_BYTES + 17;
const TERMS = { contentType: 'application/pdf', maxBytes: SIZE };
const DAY_MS = 24 * 3_600_000;
const content = Buffer.alloc(SIZE, 7);
const ofThreeParts = Buffer.alloc(PART_BYTES + SIZE, 7);

type Store = Awaited<ReturnType<typeof createStore>>;

function partsAt({ double }: Store): number[] {
  return double.requests.filter(({ query }) => query.has('partNumber')).map(({ body }) => body.length);
}

function assertNothing({ objects, double }: Store): void {
  assert.deepEqual([objects.size, double.bucket.uploads.size], [0, 0]);
}

test('large content is sent in parts while its source is read', async () => {
  const store = await createStore();
  async function* waitingForParts() {
    yield* piecesOf(ofThreeParts.subarray(0, -1));
    await untilTrue(() => partsAt(store).length >= 2);
    yield ofThreeParts.subarray(-1);
  }
  const guid = newGuid();
  assert.equal(
    await store.storage.put(guid, waitingForParts(), { ...TERMS, maxBytes: ofThreeParts.length }),
    'stored',
  );
  const stored = store.objects.get(`files/${guid}`);
  assert.ok(stored?.body.equals(ofThreeParts));
  assert.equal(stored?.headers['content-type'], 'application/pdf');
  assert.deepEqual(partsAt(store), [PART_BYTES, PART_BYTES, 17]);
});

test('parts of content that may be very large are larger, because a store takes at most 10,000', async () => {
  const store = await createStore();
  const maxBytes = 10_000 * (PART_BYTES + 1);
  assert.equal(await store.storage.put(newGuid(), piecesOf(content), { ...TERMS, maxBytes }), 'stored');
  assert.deepEqual(partsAt(store), [PART_BYTES + 1, 16]);
});

test('parts never replace other content, and are not sent when it is known', async () => {
  const store = await createStore();
  const { storage, objects, double } = store;
  const guid = newGuid();
  const first = { ...TERMS, maxBytes: 5 };
  async function* overtaken() {
    yield* piecesOf(content);
    assert.equal(await storage.put(guid, piecesOf(Buffer.from('first')), first), 'stored');
  }
  assert.equal(await storage.put(guid, overtaken(), TERMS), 'exists');
  const sent = partsAt(store).length;
  assert.equal(await storage.put(guid, piecesOf(content), TERMS), 'exists');
  assert.equal(partsAt(store).length, sent);
  assert.equal(objects.get(`files/${guid}`)?.body.toString(), 'first');
  assert.equal(double.bucket.uploads.size, 0);
});

test('content over its limit is not stored, and its parts are deleted', async () => {
  const store = await createStore();
  const terms = { ...TERMS, maxBytes: SIZE - 1 };
  assert.equal(await store.storage.put(newGuid(), piecesOf(content), terms), 'too_large');
  assertNothing(store);
});

test('the error of a source is thrown unchanged, and its parts are deleted', async () => {
  const store = await createStore();
  const error = new Error('cut off');
  for (const bytes of [0, PART_BYTES, SIZE]) {
    async function* cutOff() {
      yield* piecesOf(content.subarray(0, bytes));
      throw error;
    }
    await assert.rejects(store.storage.put(newGuid(), cutOff(), TERMS), (thrown) => thrown === error);
  }
  assertNothing(store);
});

test('a source that is not read to its end is closed', async () => {
  const store = await createStore();
  const guid = newGuid();
  assert.equal(await store.storage.put(guid, piecesOf(content), TERMS), 'stored');
  let isClosed = false;
  async function* source() {
    try {
      yield* piecesOf(ofThreeParts);
    } finally {
      isClosed = true;
    }
  }
  const terms = { ...TERMS, maxBytes: ofThreeParts.length };
  assert.equal(await store.storage.put(guid, source(), terms), 'exists');
  assert.ok(isClosed);
});

test('a part or a completion whose response was lost is repeated', async () => {
  const { storage, objects, double } = await createStore();
  for (const method of ['PUT', 'POST']) {
    let isLost = false;
    double.setFault((request) => {
      if (isLost || request.method !== method || !request.query.has('uploadId')) return undefined;
      isLost = true;
      return 'lose answer';
    });
    const guid = newGuid();
    assert.equal(await storage.put(guid, piecesOf(content), TERMS), 'stored');
    assert.ok(isLost && objects.get(`files/${guid}`)?.body.equals(content));
  }
});

test('a store that refuses parts is a StorageError', async () => {
  const store = await createStore();
  store.double.setFault(({ query }) => (query.has('partNumber') ? 'refuse' : undefined));
  await assert.rejects(store.storage.put(newGuid(), piecesOf(content), TERMS), StorageError);
  assertNothing(store);
});

test('the sweep deletes the parts of a process that died, later than an import takes', async () => {
  const { storage, clock, double } = await createStore();
  double.setFault(({ query, method }) =>
    query.has('partNumber') || (query.has('uploadId') && method === 'DELETE') ? 'refuse' : undefined,
  );
  await assert.rejects(storage.put(newGuid(), piecesOf(content), TERMS), StorageError);
  double.setFault(() => undefined);
  clock.advance(13 * DAY_MS);
  assert.equal(await storage.sweepTemporary(clock.now(), noneAwaited), 0);
  clock.advance(2 * DAY_MS);
  assert.equal(await storage.sweepTemporary(clock.now(), noneAwaited), 1);
  assert.equal(double.bucket.uploads.size, 0);
});
