import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY_FOLDER = '/dev/shm';
/** Several times what a run needs: its databases, clusters of single tests, and one installation of all dependencies. */
const NEEDED_BYTES = 8 * 1024 ** 3;

/**
 * A folder for all temporary files of a run, in memory if there is enough: a database consists of a thousand files, and
 * most of the time of creating one is spent in the file system of a disk.
 */
export function createRunFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(hasRoomInMemory() ? MEMORY_FOLDER : tmpdir(), 'portico-test-'));
  // As root, PostgreSQL runs as another user, who needs access.
  chmodSync(path, 0o711);
  process.env.TMPDIR = path;
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function hasRoomInMemory(): boolean {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, at]) => at === MEMORY_FOLDER);
    // The tests of the installation run programs in it.
    if (!mount || /\bnoexec\b/.test(mount[3] ?? '')) return false;
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return Math.min(bavail * bsize, process.availableMemory()) >= NEEDED_BYTES;
  } catch {
    return false;
  }
}
