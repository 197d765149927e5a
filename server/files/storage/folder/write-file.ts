import { type FileHandle, open } from 'node:fs/promises';
import { platform } from 'node:process';
import { failsTo, type PutTerms } from '../storage.ts';

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

/** A batch that is being collected. */
type Batch = { chunks: Uint8Array[]; bytes: number; memory: number };

/** The memory of all batches, also of those that are being written. */
type BatchMemory = {
  used: number;
  /** Functions that write the batch of an upload, and resolve also if that fails. The longest without a chunk is first. */
  flushes: Set<() => Promise<void>>;
};

export function createFileWriter() {
  const memory: BatchMemory = { used: 0, flushes: new Set() };

  /** Writes a new file and syncs it to disk. Writes at most `maxBytes`. */
  return async function writeFile(
    path: string,
    content: AsyncIterable<Uint8Array>,
    limits: Limits,
  ): Promise<'written' | 'too_large'> {
    const handle = await open(path, 'wx', FILE_MODE).catch(failsTo('write'));
    try {
      if (!(await writeBatches(content, handle, limits, memory))) return 'too_large';
      await handle.sync().catch(failsTo('write'));
      return 'written';
    } finally {
      await handle.close();
    }
  };
}

/**
 * Writes one batch while the next is received. When the memory of all batches is used, the batch that has waited longest for
 * a chunk is written: uploads that stall must not make the writes of others small.
 */
async function writeBatches(
  content: AsyncIterable<Uint8Array>,
  handle: FileHandle,
  { maxBytes, onWritten, beforeWrite }: Limits,
  memory: BatchMemory,
): Promise<boolean> {
  let size = 0;
  let batch: Batch = { chunks: [], bytes: 0, memory: 0 };
  let writing = Promise.resolve();

  function flush(): Promise<void> {
    const written = batch;
    batch = { chunks: [], bytes: 0, memory: 0 };
    memory.flushes.delete(flush);
    if (written.memory > 0) writing = writing.then(() => write(written)).finally(() => release(written));
    // A rejection is reported when `writing` is awaited.
    return writing.catch(() => {});
  }

  async function write({ chunks, bytes }: Batch): Promise<void> {
    await beforeWrite(bytes);
    await writeAll(handle, chunks, bytes, onWritten);
  }

  function release(released: Batch): void {
    memory.used -= released.memory;
  }

  function add(chunk: Uint8Array): void {
    const chunkMemory = chunk.byteLength + CHUNK_OVERHEAD_BYTES;
    batch.chunks.push(chunk);
    batch.bytes += chunk.byteLength;
    batch.memory += chunkMemory;
    memory.used += chunkMemory;
    memory.flushes.delete(flush);
    memory.flushes.add(flush);
  }

  try {
    for await (const chunk of content) {
      size += chunk.byteLength;
      // Leaving the loop ends the source too.
      if (size > maxBytes) return false;
      add(chunk);
      if (memory.used >= BATCHES_BYTES) await memory.flushes.values().next().value?.();
      if (batch.memory < BATCH_BYTES) continue;
      await writing;
      void flush();
    }
    void flush();
    await writing;
    return true;
  } finally {
    memory.flushes.delete(flush);
    release(batch);
    // The file is closed next.
    await writing.catch(() => {});
  }
}

async function writeAll(
  handle: FileHandle,
  chunks: Uint8Array[],
  bytes: number,
  onWritten: Limits['onWritten'],
): Promise<void> {
  const { bytesWritten } = await handle.writev(chunks).catch(failsTo('write'));
  // A nearly full disk accepts part of the batch; writing the rest then reports the error.
  if (bytesWritten < bytes)
    await handle.writeFile(Buffer.concat(chunks).subarray(bytesWritten)).catch(failsTo('write'));
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
