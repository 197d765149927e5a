import { copyFile, type FileHandle, open, rename, rm } from 'node:fs/promises';
import { fileProblem, isErrorCode } from './file-problem.ts';

const MAX_LOG_BYTES = 8 * 1024 * 1024;
const CHECK_EVERY_MS = 60_000;
const TAIL_BYTES = 64 * 1024;

export type ServerLog = {
  /** For the server to write to: open, so its user needs no right to the directory. */
  readonly fd: number;
  /** Forgets what was written so far, so that `written` speaks of what comes after. */
  mark(): Promise<void>;
  written(): Promise<string>;
  close(): Promise<void>;
};

/** At most two files of a bounded size: the log of this run and the one before it. */
export async function openServerLog(
  path: string,
  { maxBytes = MAX_LOG_BYTES, checkEveryMs = CHECK_EVERY_MS } = {},
) {
  const previous = `${path}.1`;
  try {
    await rename(path, previous).catch((error: unknown) => {
      if (!isErrorCode(error, 'ENOENT')) throw error;
    });
    // Appending: the server keeps writing at the end after the file was cut below it.
    const file = await open(path, 'a+', 0o600);
    let cutting = false;
    const timer = setInterval(async () => {
      // One at a time: a second one would copy the file that the first has just emptied.
      if (cutting) return;
      cutting = true;
      await cutWhenLong(file, path, previous, maxBytes);
      cutting = false;
    }, checkEveryMs).unref();
    return createServerLog(file, timer);
  } catch (error) {
    throw fileProblem('write the log of the database to', path, error);
  }
}

function createServerLog(file: FileHandle, timer: NodeJS.Timeout): ServerLog {
  let markedAt = 0;
  let closing: Promise<void> | undefined;
  return {
    fd: file.fd,
    async mark() {
      markedAt = (await file.stat()).size;
    },
    async written() {
      const { size } = await file.stat();
      const start = Math.max(Math.min(markedAt, size), size - TAIL_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
      return buffer.toString('utf8', 0, bytesRead);
    },
    close() {
      clearInterval(timer);
      closing ??= file.close();
      return closing;
    },
  };
}

async function cutWhenLong(
  file: FileHandle,
  path: string,
  previous: string,
  maxBytes: number,
): Promise<void> {
  try {
    if ((await file.stat()).size <= maxBytes) return;
    await rm(previous, { force: true });
    await copyFile(path, previous);
    await file.truncate(0);
  } catch {
    // A log that cannot be cut this time is no reason to disturb the service; the next round tries again.
  }
}

/** `2026-01-01 12:00:00 UTC [42] FATAL:  could not …` → `could not …`, of the last complaint there is. */
export function lastComplaint(log: string): string | undefined {
  const complaints = log.matchAll(
    /(?:FATAL|PANIC|ERROR): {1,2}(.+)|(.*error while loading shared libraries.*)/g,
  );
  const last = [...complaints].at(-1);
  return last?.[1] ?? last?.[2];
}
