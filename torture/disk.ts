import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../server/infrastructure/runtime/run-command.ts';

/** Several times what a run of 20 minutes writes, and little enough to fill in a second. */
const SIZE_MIB = 768;
const MIB = 1024 ** 2;
const PAGE = 4_096;
const BALLAST = 'ballast';

/** A small file system in memory that can be full without harm to the machine. */
export type Disk = {
  readonly path: string;
  fill(): Promise<void>;
  free(): Promise<void>;
  unmount(): Promise<void>;
};

/** Returns the reason as text where mounting is not possible. */
export async function mountDisk(path: string): Promise<Disk | string> {
  await mkdir(path);
  const options = `size=${SIZE_MIB}m,mode=0711,nosuid,nodev`;
  const mounted = await runCommand('mount', ['-t', 'tmpfs', '-o', options, 'portico-torture', path]);
  if (mounted.exitCode !== 0)
    return mounted.startError?.message ?? (mounted.stderr.trim().split('\n').at(0) || 'mount failed');
  const ballast = join(path, BALLAST);
  return {
    path,
    async fill() {
      const file = await open(ballast, 'a');
      try {
        // Large pieces first, then single pages, so that nothing is left.
        for (const size of [MIB, PAGE]) await writeUntilFull(file, Buffer.alloc(size));
      } finally {
        await file.close();
      }
    },
    free: () => rm(ballast, { force: true }),
    async unmount() {
      // Lazily: a process that is still ending must not keep it.
      await runCommand('umount', ['-l', path]);
    },
  };
}

async function writeUntilFull(file: Awaited<ReturnType<typeof open>>, piece: Buffer): Promise<void> {
  try {
    for (let pieces = 0; pieces * piece.length <= SIZE_MIB * MIB; pieces += 1) await file.appendFile(piece);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
