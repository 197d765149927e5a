import { readFile, readlink } from 'node:fs/promises';
import { runCommand } from '../../../runtime/run-command.ts';

/** A process id alone is not unique: ids are reused, especially in containers. Together with the start time it is. */

/** The start time in the format of the system; `undefined` when the process has ended or is a zombie. */
export async function processStartTime(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') return await linuxStartTime(pid);
  if (process.platform === 'win32') return isSignalable(pid) ? 'unknown' : undefined;
  const { stdout } = await runCommand('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]);
  const [state, ...startedAt] = stdout.trim().split(/\s+/);
  return state === undefined || state === '' || state.startsWith('Z') ? undefined : startedAt.join(' ');
}

/** Whether the process is a PostgreSQL server of this cluster, not an unrelated one with the same id. */
export async function isPostmasterOf(clusterDir: string, pid: number): Promise<boolean> {
  if (process.platform !== 'linux') {
    const { stdout } = await runCommand('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
    return stdout.includes('postgres') && stdout.includes(`-D ${clusterDir} `);
  }
  const [program = '', ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split(
    '\0',
  );
  if (!program.endsWith('/postgres')) return false;
  // The working directory identifies the cluster even after a rename, but root in a container may not be allowed to
  // read it; the arguments are readable by everyone.
  const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => '');
  return workingDirectory === clusterDir || args[args.indexOf('-D') + 1] === clusterDir;
}

async function linuxStartTime(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field is the program name in parentheses and may contain spaces and parentheses.
  const [state, ...others] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const STARTED_AFTER_BOOT = 18;
  const startedAfterBoot = others[STARTED_AFTER_BOOT];
  if (startedAfterBoot === undefined || state === 'Z' || state === 'X') return undefined;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  return `${boot.trim()} ${startedAfterBoot}`.trim();
}

function isSignalable(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
