import { type FileHandle, open } from 'node:fs/promises';
import { platform } from 'node:process';
import { type PutTerms, StorageError } from '../storage.ts';

/** Other users of the machine must not read the files of partners. */
export const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Chunks are collected into batches for fewer, larger writes; an upload holds at most two batches in memory. */
const BATCH_BYTES = 1_048_576;
/** Shared by the batches of all uploads: a thousand slow ones must not hold a thousand full batches. */
const BATCHES_BYTES = 64 * 1_048_576;
/** Memory for a chunk in addition to its bytes. Of a slow sender every packet is a chunk, maybe of one byte. */
const CHUNK_OVERHEAD_BYTES = 1_024;

type Limits = Pick<PutTerms, 'maxBytes' | 'onWritten'> & {
  /** Called before each batch; throws to abort. */
  beforeWrite(bytes: number): void | Promise<void>;
};

/** The memory of all batches, also of those that are being written. */
type BatchMemory = { used: number };

export function createFileWriter() {
  const memory: BatchMemory = { used: 0 };

  /** Writes a new file and syncs it to disk. Writes at most `maxBytes`. */
  return async function writeFile(
    path: string,
    content: AsyncIterable<Uint8Array>,
    limits: Limits,
  ): Promise<'written' | 'too_large'> {
    const handle = await open(path, 'wx', FILE_MODE).catch(failsToWrite);
    try {
      if (!(await writeBatches(content, handle, limits, memory))) return 'too_large';
      await handle.sync().catch(failsToWrite);
      return 'written';
    } finally {
      await handle.close();
    }
  };
}

/** Writes one batch while the next is received. */
async function writeBatches(
  content: AsyncIterable<Uint8Array>,
  handle: FileHandle,
  { maxBytes, onWritten, beforeWrite }: Limits,
  memory: BatchMemory,
): Promise<boolean> {
  let size = 0;
  let batch: Uint8Array[] = [];
  let batchBytes = 0;
  let batchMemory = 0;
  let writing = Promise.resolve();

  async function writeBatch(): Promise<void> {
    await writing;
    await beforeWrite(batchBytes);
    const written = batchMemory;
    writing = writeAll(handle, batch, batchBytes, onWritten).finally(() => {
      memory.used -= written;
    });
    // Awaited before the next batch or at the end; until then a rejection must not count as unhandled.
    writing.catch(() => {});
    batch = [];
    batchBytes = 0;
    batchMemory = 0;
  }

  try {
    for await (const chunk of content) {
      size += chunk.byteLength;
      // Leaving the loop ends the source too.
      if (size > maxBytes) return false;
      batch.push(chunk);
      batchBytes += chunk.byteLength;
      batchMemory += chunk.byteLength + CHUNK_OVERHEAD_BYTES;
      memory.used += chunk.byteLength + CHUNK_OVERHEAD_BYTES;
      if (batchMemory >= BATCH_BYTES || memory.used >= BATCHES_BYTES) await writeBatch();
    }
    if (batchBytes > 0) await writeBatch();
    await writing;
    return true;
  } finally {
    memory.used -= batchMemory;
  }
}

async function writeAll(
  handle: FileHandle,
  chunks: Uint8Array[],
  bytes: number,
  onWritten: Limits['onWritten'],
): Promise<void> {
  const { bytesWritten } = await handle.writev(chunks).catch(failsToWrite);
  // A nearly full disk accepts part of the batch; writing the rest then reports the error.
  if (bytesWritten < bytes)
    await handle.writeFile(Buffer.concat(chunks).subarray(bytesWritten)).catch(failsToWrite);
  if (onWritten) for (const chunk of chunks) onWritten(chunk);
}

/** A new name is durable once its folder is synced. Windows has no such call and needs none. */
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
