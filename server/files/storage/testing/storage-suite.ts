import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../../infrastructure/runtime/clock.ts';
import { createGuids } from '../../../infrastructure/runtime/guid.ts';
import type { AwaitedFiles, PutTerms, Storage } from '../storage.ts';

const guids = createGuids({ clock: systemClock, randomBytes });
/** Several batches of a write, and not a multiple of their size. */
const LARGE_BYTES = 9 * 1_048_576 + 17;
const TERMS: PutTerms = { contentType: 'application/pdf', maxBytes: 64 * 1_048_576 };

export type OpenStorage = { storage: Storage; close(): unknown };

export const newGuid = () => guids.next();
export const noneAwaited: AwaitedFiles = async () => new Set();

export async function* piecesOf(content: Buffer, pieceBytes = 65_536): AsyncGenerator<Buffer> {
  for (let start = 0; start < content.length; start += pieceBytes)
    yield content.subarray(start, start + pieceBytes);
}

/** A source that fails after so many bytes. */
export async function* cutOffAfter(bytes: number): AsyncGenerator<Buffer> {
  yield* piecesOf(Buffer.alloc(bytes));
  throw new Error('cut off');
}

/** The contract of every Storage. */
export function describeStorage(name: string, create: () => Promise<OpenStorage>): void {
  describe(name, () => {
    let storage: Storage;
    let close: OpenStorage['close'];
    before(async () => {
      ({ storage, close } = await create());
    });
    // A real store outlives the test.
    const used: string[] = [];
    after(async () => {
      for (const guid of used) await storage.delete(guid);
      await close();
    });
    const freshGuid = () => {
      const guid = newGuid();
      used.push(guid);
      return guid;
    };

    const put = (guid: string, content: Buffer, terms = TERMS) => storage.put(guid, piecesOf(content), terms);

    async function contentOf(guid: string): Promise<Buffer | undefined> {
      const stream = await storage.read(guid);
      return stream && buffer(stream);
    }

    async function assertNothing(guid: string): Promise<void> {
      assert.equal(await storage.head(guid), undefined);
      assert.equal(await storage.read(guid), undefined);
    }

    for (const size of [0, 1, 65_536, LARGE_BYTES])
      test(`${size} bytes are returned as they were put`, async () => {
        const guid = freshGuid();
        const content = randomBytes(size);
        assert.equal(await put(guid, content), 'stored');
        assert.deepEqual(await storage.head(guid), { size });
        assert.ok((await contentOf(guid))?.equals(content));
      });

    test('content that was never put does not exist', () => assertNothing(freshGuid()));

    test('a range includes both ends', async () => {
      const guid = freshGuid();
      await put(guid, Buffer.from('0123456789'));
      const part = async (start: number, end: number) => {
        const stream = await storage.read(guid, { start, end });
        assert.ok(stream);
        return (await buffer(stream)).toString();
      };
      assert.equal(await part(0, 0), '0');
      assert.equal(await part(2, 5), '2345');
      assert.equal(await part(9, 9), '9');
    });

    test('content of the maximum size is stored; one byte more is too large and leaves nothing', async () => {
      const [fits, exceeds] = [freshGuid(), freshGuid()];
      assert.equal(await put(fits, Buffer.alloc(1_000), { ...TERMS, maxBytes: 1_000 }), 'stored');
      assert.equal(await put(exceeds, Buffer.alloc(1_001), { ...TERMS, maxBytes: 1_000 }), 'too_large');
      await assertNothing(exceeds);
    });

    test('content that exceeds the maximum after many megabytes leaves nothing', async () => {
      const guid = freshGuid();
      const maxBytes = 2 * LARGE_BYTES - 1;
      assert.equal(await put(guid, Buffer.alloc(2 * LARGE_BYTES), { ...TERMS, maxBytes }), 'too_large');
      await assertNothing(guid);
    });

    for (const bytes of [0, 100_000, 2 * LARGE_BYTES])
      test(`a source that fails after ${bytes} bytes leaves nothing, and the put can be repeated`, async () => {
        const guid = freshGuid();
        await assert.rejects(storage.put(guid, cutOffAfter(bytes), TERMS), { message: 'cut off' });
        await assertNothing(guid);
        assert.equal(await put(guid, Buffer.from('whole')), 'stored');
        assert.equal((await contentOf(guid))?.toString(), 'whole');
      });

    test('a put never replaces content', async () => {
      const guid = freshGuid();
      await put(guid, Buffer.from('first'));
      assert.equal(await put(guid, Buffer.from('second')), 'exists');
      assert.equal(await put(guid, Buffer.alloc(LARGE_BYTES)), 'exists');
      assert.equal((await contentOf(guid))?.toString(), 'first');
    });

    for (const size of [10, LARGE_BYTES])
      test(`exactly one of several concurrent puts of ${size} bytes is stored, completely`, async () => {
        const guid = freshGuid();
        const contents = [1, 2, 3].map((fill) => Buffer.alloc(size, fill));
        const results = await Promise.all(contents.map((content) => put(guid, content)));
        assert.deepEqual([...results].sort(), ['exists', 'exists', 'stored']);
        assert.ok((await contentOf(guid))?.equals(contents[results.indexOf('stored')] as Buffer));
      });

    test('deleted content is gone, and deleting it again succeeds', async () => {
      const guid = freshGuid();
      await put(guid, Buffer.from('content'));
      await storage.delete(guid);
      await assertNothing(guid);
      await storage.delete(guid);
    });

    test('a name that is not a guid throws', async () => {
      for (const name of ['', '..', '../escape', '0'.repeat(31), `${'0'.repeat(32)}/..`, 'A'.repeat(32)]) {
        const notAGuid = { message: 'the name of a file must be a guid' };
        await assert.rejects(async () => storage.put(name, piecesOf(Buffer.alloc(1)), TERMS), notAGuid);
        await assert.rejects(async () => storage.head(name), notAGuid);
        await assert.rejects(async () => storage.read(name), notAGuid);
        await assert.rejects(async () => storage.delete(name), notAGuid);
      }
    });
  });
}
