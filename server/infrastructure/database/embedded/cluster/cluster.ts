import { chown, mkdtemp, open, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lastLine, runCommand } from '../../../runtime/run-command.ts';
import { StartupError } from '../../../runtime/startup-error.ts';
import { exists } from '../data-dir/data-dir.ts';
import { fileProblem, isErrorCode } from '../data-dir/file-problem.ts';
import type { Launcher } from '../server/launcher.ts';
import type { ServerUser } from '../server/server-user.ts';
import type { Binaries } from './binaries.ts';

export const SUPERUSER = 'portico';
const INIT_TIMEOUT_MS = 300_000;
const UNFINISHED_PREFIX = 'postgres.init-';
const CHOWN_TIMEOUT_MS = 60_000;

type ClusterOptions = {
  readonly dataDir: string;
  readonly clusterDir: string;
  readonly binaries: Binaries;
  readonly launcher: Launcher;
  readonly user: ServerUser | undefined;
  readonly password: string;
  readonly syncToDisk: boolean;
  readonly signal: AbortSignal | undefined;
};

export async function clusterExists(clusterDir: string): Promise<boolean> {
  return await exists(join(clusterDir, 'PG_VERSION'));
}

/** Creates the cluster if it is missing; checks its version and owner. */
export async function prepareCluster(options: ClusterOptions): Promise<void> {
  const { dataDir, clusterDir, binaries, user, signal } = options;
  try {
    await removeUnfinished(dataDir);
    if (!(await clusterExists(clusterDir))) return await createCluster(options);
    const version = (await readFile(join(clusterDir, 'PG_VERSION'), 'utf8')).trim();
    if (version !== String(binaries.majorVersion))
      throw new StartupError(
        `The database in ${clusterDir} was created by PostgreSQL ${version} and this portico includes ` +
          `${binaries.majorVersion}; start the portico version that created it, or set PORTICO_DATA_DIR to an empty directory.`,
      );
    // A directory copied by root belongs to root, and PostgreSQL requires to own its files.
    if (user !== undefined)
      await runCommand('chown', ['-hR', `${user.uid}:${user.gid}`, clusterDir], {
        timeoutMs: CHOWN_TIMEOUT_MS,
        signal,
      });
  } catch (error) {
    throw fileProblem('prepare the database in', clusterDir, error);
  }
}

/** Created in a temporary directory and renamed when complete: a crash leaves no partial cluster. */
async function createCluster(options: ClusterOptions): Promise<void> {
  const { dataDir, clusterDir, binaries, launcher, user, password, syncToDisk, signal } = options;
  await removeEmpty(clusterDir);
  const workDir = await mkdtemp(join(dataDir, UNFINISHED_PREFIX));
  const unfinished = join(workDir, 'cluster');
  const passwordFile = join(workDir, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user !== undefined) for (const path of [workDir, passwordFile]) await chown(path, user.uid, user.gid);

  const plan = launcher(binaries.initdb, [
    ...['-D', unfinished, `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
    // The builtin locale provider sorts the same on every system.
    ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ...['--data-checksums', '--no-instructions', ...(syncToDisk ? [] : ['--no-sync'])],
  ]);
  const limits = { timeoutMs: INIT_TIMEOUT_MS, signal };
  const result = await runCommand(plan.program, plan.args, { ...plan.options, ...limits });
  if (result.exitCode !== 0) {
    await removeUnfinished(dataDir);
    const reason = result.startError?.message ?? initdbComplaint(result.stderr);
    throw new StartupError(
      `The database could not be created in ${clusterDir} (${reason}); correct that or set PORTICO_DATA_DIR to another directory.`,
    );
  }
  await rename(unfinished, clusterDir);
  if (syncToDisk) await syncDirectory(dataDir);
  await removeUnfinished(dataDir);
}

async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir))
    if (name.startsWith(UNFINISHED_PREFIX))
      // An orphaned initdb may still write to it; the next start removes it then.
      await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
}

async function removeEmpty(clusterDir: string): Promise<void> {
  try {
    await rmdir(clusterDir);
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return;
    throw new StartupError(
      `${clusterDir} exists but is not a PostgreSQL database; move it away or set PORTICO_DATA_DIR to another directory.`,
    );
  }
}

function initdbComplaint(stderr: string): string {
  const complaint = stderr.split('\n').find((line) => /\b(error|FATAL|PANIC):/.test(line));
  return complaint?.trim() ?? (lastLine(stderr) || 'initdb did not finish');
}

async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
