import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../../runtime/run-command.ts';
import { StartupError } from '../../../runtime/startup-error.ts';
import { fileProblem, isErrorCode } from '../data-dir/file-problem.ts';
import { isPostmasterOf, processStartTime } from './process-identity.ts';
import { stopPostmaster } from './server-process.ts';

/**
 * When portico was killed, its PostgreSQL may still run: it is stopped, so that the new one starts with its own
 * settings. When both were killed, postmaster.pid may name an unrelated process with the same id, on which PostgreSQL
 * would refuse to start: the file is removed. PostgreSQL detects remaining shared memory without the file.
 */
export async function clearLeftoverServer(clusterDir: string, pgCtl: string): Promise<void> {
  const pidFile = join(clusterDir, 'postmaster.pid');
  const pid = await recordedPid(pidFile);
  if (pid === undefined) return;
  if (await isLive(clusterDir, pid, pgCtl))
    await stopPostmaster(
      { pid, isGone: async () => (await processStartTime(pid)) === undefined },
      pgCtl,
    ).catch(() => {
      throw new StartupError(
        `An earlier PostgreSQL (process ${pid}) on ${clusterDir} does not stop; end it and start again.`,
      );
    });
  await rm(pidFile, { force: true }).catch((error: unknown) => {
    throw fileProblem('remove the stale', pidFile, error);
  });
}

async function recordedPid(pidFile: string): Promise<number | undefined> {
  try {
    const [firstLine] = (await readFile(pidFile, 'utf8')).split('\n');
    return Math.abs(Number.parseInt(firstLine ?? '', 10)) || 0;
  } catch (error) {
    if (isErrorCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw fileProblem('read', pidFile, error);
  }
}

async function isLive(clusterDir: string, pid: number, pgCtl: string): Promise<boolean> {
  if (pid === 0) return false;
  if (process.platform !== 'win32') return await isPostmasterOf(clusterDir, pid);
  return (await runCommand(pgCtl, ['status', '-D', clusterDir])).exitCode === 0;
}
