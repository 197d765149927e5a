import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../server/infrastructure/runtime/run-command.ts';

/** Several times what a run of 20 minutes writes, and little enough to fill in a second. */
const SIZE_MIB = 512;
const BALLAST = 'ballast';

/** A small file system in memory that can be full without harm to the machine. */
export type Disk = {
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
    /** In a process of its own: this one is busy with the connections to PostgreSQL. */
    async fill() {
      await runCommand('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=1M', 'oflag=append', 'conv=notrunc']);
    },
    free: () => rm(ballast, { force: true }),
    async unmount() {
      // Lazily: a process that is still ending must not keep it.
      await runCommand('umount', ['-l', path]);
    },
  };
}
