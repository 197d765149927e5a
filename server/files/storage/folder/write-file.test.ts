import assert from 'node:assert/strict';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { piecesOf } from '../testing/storage-suite.ts';
import { createFileWriter } from './write-file.ts';

const folder = await mkdtemp(join(tmpdir(), 'portico-written-'));
after(() => rm(folder, { recursive: true, force: true }));
const LIMITS = { maxBytes: 1_048_576, beforeWrite() {} };

/** Counts the chunks and bytes of each batch from when its write begins. */
async function watchBatches(context: TestContext) {
  const handle = await open(folder, 'r');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { writev } = prototype;
  const batches: { chunks: number; bytes: number }[] = [];
  context.mock.method(prototype, 'writev', function (this: FileHandle, chunks: Buffer[]) {
    batches.push({ chunks: chunks.length, bytes: chunks.reduce((sum, { length }) => sum + length, 0) });
    return writev.call(this, chunks);
  });
  return batches;
}

test('a batch has at most a thousand chunks, because each takes memory besides its bytes', async (context) => {
  const batches = await watchBatches(context);
  const written = await createFileWriter()(join(folder, 'tiny'), piecesOf(Buffer.alloc(3_000), 1), LIMITS);
  assert.equal(written, 'written');
  assert.equal(Math.max(...batches.map(({ chunks }) => chunks)), 1_024);
});

const PIECES = new Array<Buffer>(15).fill(Buffer.alloc(65_536));

/** Begins uploads one after the other, which stall with less than a batch until `resume` is called. */
async function beginStalled(writeFile: ReturnType<typeof createFileWriter>, name: string, uploads: number) {
  const continued = Promise.withResolvers<void>();
  async function* receive(stalled: () => void) {
    yield* PIECES;
    stalled();
    await continued.promise;
  }
  const writing: Promise<unknown>[] = [];
  for (let n = 0; n < uploads; n += 1)
    await new Promise<void>((stalled) => {
      writing.push(writeFile(join(folder, `${name} ${n}`), receive(stalled), LIMITS));
    });
  return function resume() {
    continued.resolve();
    return Promise.all(writing);
  };
}

test('many uploads that begin one after the other share the memory of 64 batches', async (context) => {
  const batches = await watchBatches(context);
  const uploads = 100;
  const resume = await beginStalled(createFileWriter(), 'slow', uploads);
  const written = batches.reduce((sum, { bytes }) => sum + bytes, 0);
  assert.ok(uploads * PIECES.length * 65_536 - written <= 64 * 1_048_576);
  await resume();
});

test('uploads that stall do not make the writes of another upload small', async (context) => {
  const writeFile = createFileWriter();
  const resume = await beginStalled(writeFile, 'stalled', 70);
  const batches = await watchBatches(context);
  await writeFile(join(folder, 'active'), piecesOf(Buffer.alloc(1_048_576)), LIMITS);
  assert.deepEqual(
    batches.filter(({ chunks }) => chunks < PIECES.length),
    [],
  );
  await resume();
});
