import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { StorageError } from '../storage.ts';
import { newGuid, piecesOf } from '../testing/storage-suite.ts';
import { createStore } from './testing/storage.ts';

/** Large content of known size, as an import stores it. */
const SIZE = 9 * 1_048_576 + 17;
const TERMS = { contentType: 'application/pdf', maxBytes: SIZE, size: SIZE };
const MAX_TURNS = 100_000;
const content = Buffer.alloc(SIZE, 7);

test('large content of known size is sent while its source is read, not collected first', async () => {
  const { storage, double, objects } = await createStore();
  async function* waitingForRequest() {
    for await (const piece of piecesOf(content)) {
      yield piece;
      for (let turns = 0; double.begun() === 0; turns++, await turn())
        assert.ok(turns < MAX_TURNS, 'the request did not begin');
    }
  }
  const guid = newGuid();
  assert.equal(await storage.put(guid, waitingForRequest(), TERMS), 'stored');
  assert.ok(objects.get(`files/${guid}`)?.body.equals(content));
  const sizes = double.requests.map(({ headers }) => headers['content-length']);
  assert.deepEqual(sizes, [String(SIZE)]);
});

test('streamed content never replaces other content', async () => {
  const { storage, objects } = await createStore();
  const guid = newGuid();
  await storage.put(guid, piecesOf(Buffer.from('first')), { ...TERMS, size: 5 });
  assert.equal(await storage.put(guid, piecesOf(content), TERMS), 'exists');
  assert.equal(objects.get(`files/${guid}`)?.body.toString(), 'first');
});

test('content that is longer or shorter than its size is not stored', async () => {
  const { storage, objects } = await createStore();
  async function* longer() {
    yield content;
    yield Buffer.alloc(0);
    yield Buffer.alloc(1);
  }
  assert.equal(await storage.put(newGuid(), longer(), TERMS), 'too_large');
  assert.equal(await storage.put(newGuid(), longer(), { ...TERMS, size: SIZE + 1 }), 'too_large');
  const shorter = piecesOf(content.subarray(1));
  await assert.rejects(storage.put(newGuid(), shorter, TERMS), StorageError);
  assert.equal(objects.size, 0);
});

test('content above the limit of one PUT is refused before it is read', async () => {
  const { storage, double } = await createStore();
  const size = 5 * 1024 ** 3 + 1;
  const unread = { [Symbol.asyncIterator]: () => assert.fail('the content was read') };
  assert.equal(await storage.put(newGuid(), unread, { ...TERMS, maxBytes: size, size }), 'too_large');
  assert.deepEqual(double.requests, []);
});

test('the error of a streamed source is thrown unchanged, and nothing is stored', async () => {
  const { storage, objects } = await createStore();
  const error = new Error('cut off');
  for (const bytes of [0, SIZE - 1, SIZE]) {
    async function* cutOff() {
      yield* piecesOf(content.subarray(0, bytes));
      throw error;
    }
    await assert.rejects(storage.put(newGuid(), cutOff(), TERMS), (thrown) => thrown === error);
  }
  assert.equal(objects.size, 0);
});

test('a store that refuses a stream is a StorageError', async () => {
  const { storage, double } = await createStore();
  double.setFault(() => 'refuse');
  await assert.rejects(storage.put(newGuid(), piecesOf(content), TERMS), StorageError);
  double.setFault(() => 'lose answer');
  await assert.rejects(storage.put(newGuid(), piecesOf(content), TERMS), StorageError);
});
