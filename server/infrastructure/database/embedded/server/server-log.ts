import { copyFile, type FileHandle, open, rename, rm } from 'node:fs/promises';
import { fileProblem, isErrorCode } from '../data-dir/file-problem.ts';

const MAX_LOG_BYTES = 8 * 1024 * 1024;
const CHECK_EVERY_MS = 60_000;
const TAIL_BYTES = 64 * 1024;

export type ServerLog = {
  /** Opened by the parent, so the server's user needs no access to the directory. */
  readonly fd: number;
  /** `written` returns only what was written after the mark. */
  mark(): Promise<void>;
  written(): Promise<string>;
  close(): Promise<void>;
};

/** At most two files of a bounded size: the log of this run and of the previous one. */
export async function openServerLog(
  path: string,
  { maxBytes = MAX_LOG_BYTES, checkEveryMs = CHECK_EVERY_MS } = {},
) {
  const previous = `${path}.1`;
  try {
    await rename(path, previous).catch((error: unknown) => {
      if (!isErrorCode(error, 'ENOENT')) throw error;
    });
    // Append mode: the server keeps writing at the end after the file was truncated.
    const file = await open(path, 'a+', 0o600);
    let cutting = false;
    const timer = setInterval(async () => {
      // One at a time: a second rotation would copy the file that the first has just truncated.
      if (cutting) return;
      cutting = true;
      await cutWhenLong(file, path, previous, maxBytes);
      cutting = false;
    }, checkEveryMs).unref();
    return createServerLog(file, timer);
  } catch (error) {
    throw fileProblem('write the database log to', path, error);
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
    // The next rotation retries; the service must not fail because of its log.
  }
}

/** `2026-01-01 12:00:00 UTC [42] FATAL:  could not …` → `could not …`, for the last FATAL or similar line. */
export function lastComplaint(log: string): string | undefined {
  const complaints = log.matchAll(
    /(?:FATAL|PANIC|ERROR): {1,2}(.+)|(.*error while loading shared libraries.*)/g,
  );
  const last = [...complaints].at(-1);
  return last?.[1] ?? last?.[2];
}
