import { type FileHandle, open } from 'node:fs/promises';
import { platform } from 'node:process';
import { type PutTerms, StorageError } from '../storage.ts';

/** What partners hand in concerns nobody else on the machine. */
export const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Collected before they are written: fewer, larger writes, and at most two such batches in memory for each upload. */
const BATCH_BYTES = 1_048_576;

type Limits = Pick<PutTerms, 'maxBytes' | 'onWritten'> & {
  /** Before each batch; throws to end the writing. */
  beforeWrite(bytes: number): void | Promise<void>;
};

/** Writes a new file and has it on the disk before it answers; of too much, no more than `maxBytes` is written. */
export async function writeWhole(
  path: string,
  content: AsyncIterable<Uint8Array>,
  limits: Limits,
): Promise<'written' | 'too_large'> {
  const handle = await open(path, 'wx', FILE_MODE).catch(failsToWrite);
  try {
    if (!(await pour(content, handle, limits))) return 'too_large';
    await handle.sync().catch(failsToWrite);
    return 'written';
  } finally {
    await handle.close();
  }
}

/** One batch is written while the next one comes in. */
async function pour(
  content: AsyncIterable<Uint8Array>,
  handle: FileHandle,
  { maxBytes, onWritten, beforeWrite }: Limits,
): Promise<boolean> {
  let size = 0;
  let batch: Uint8Array[] = [];
  let batchBytes = 0;
  let writing = Promise.resolve();

  async function writeBatch(): Promise<void> {
    await writing;
    await beforeWrite(batchBytes);
    writing = writeAll(handle, batch, batchBytes, onWritten);
    // It is awaited before the next batch or at the end, whichever comes; until then nobody listens.
    writing.catch(() => {});
    batch = [];
    batchBytes = 0;
  }

  for await (const chunk of content) {
    size += chunk.byteLength;
    // Leaving the loop ends the source as well.
    if (size > maxBytes) return false;
    batch.push(chunk);
    batchBytes += chunk.byteLength;
    if (batchBytes >= BATCH_BYTES) await writeBatch();
  }
  if (batchBytes > 0) await writeBatch();
  await writing;
  return true;
}

async function writeAll(
  handle: FileHandle,
  chunks: Uint8Array[],
  bytes: number,
  onWritten: Limits['onWritten'],
): Promise<void> {
  const { bytesWritten } = await handle.writev(chunks).catch(failsToWrite);
  // A disk that is nearly full takes a part; it says so when it is given the rest.
  if (bytesWritten < bytes)
    await handle.writeFile(Buffer.concat(chunks).subarray(bytesWritten)).catch(failsToWrite);
  if (onWritten) for (const chunk of chunks) onWritten(chunk);
}

/** A new name is durable when the folder that holds it is; Windows has no such call and needs none. */
export async function syncFolders(...folders: string[]): Promise<void> {
  if (platform === 'win32') return;
  for (const folder of folders) {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

function failsToWrite(error: unknown): never {
  throw new StorageError('write', error);
}
