import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claim } from '../testing/database/claim.ts';

/** The environment variable that tells a worker process the folder of its queue. */
export const QUEUE_VARIABLE = 'PORTICO_TEST_QUEUE';
const LIST = 'files.json';

/** `waiting`: the files that no process has taken. */
export type Queue = { folder: string; waiting(): string[]; remove(): void };

/** Test files for several worker processes. A folder, because the test runner gives its processes no channel. */
export function createQueue(files: readonly string[]): Queue {
  const folder = mkdtempSync(join(tmpdir(), 'portico-test-queue-'));
  writeFileSync(join(folder, LIST), JSON.stringify(files));
  return {
    folder,
    waiting: () => files.filter((_, index) => !existsSync(join(folder, String(index)))),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Takes the next file; no other process gets the same. */
export function takeNext(folder: string): string | undefined {
  const files = JSON.parse(readFileSync(join(folder, LIST), 'utf8')) as string[];
  return files.find((_, index) => claim(join(folder, String(index))));
}
