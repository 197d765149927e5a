import { access, chmod, constants, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StartupError } from '../../../runtime/startup-error.ts';
import { fileProblem, isErrorCode } from './file-problem.ts';
import { acquireLockFile } from './lock-file.ts';

const LOCK_NAME = 'portico.lock';
const OWNER_ONLY = 0o700;
/** PostgreSQL runs as another user when portico runs as root, and has to traverse the directory without listing it. */
const OTHERS_MAY_PASS = 0o711;

/** Creates the data directory if it is missing; returns its real path, so that one directory has one name. */
export async function ensureDataDir(dataDir: string): Promise<string> {
  try {
    const mode = process.getuid?.() === 0 ? OTHERS_MAY_PASS : OWNER_ONLY;
    await createDirectory(dataDir, mode);
    if (!(await stat(dataDir)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    await access(dataDir, constants.W_OK | constants.X_OK);
    return await realpath(dataDir);
  } catch (error) {
    throw fileProblem('use the data directory', dataDir, error);
  }
}

/**
 * With its parents. An existing directory keeps its mode. Not by the option `recursive`, with which Node.js never
 * returns where a parent exists and refuses directories as not found, such as /proc.
 */
async function createDirectory(path: string, mode: number): Promise<void> {
  if (await exists(path)) return;
  const parent = dirname(path);
  if (parent !== path) await createDirectory(parent, mode);
  await mkdir(path, { mode }).catch((error: unknown) => {
    // Another process was faster.
    if (!isErrorCode(error, 'EEXIST')) throw error;
  });
  // The umask may have removed bits.
  await chmod(path, mode);
}

export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** One `serve` per data directory. Creates the directory if it is missing. */
export async function lockDataDir(dataDir: string): Promise<{ release(): Promise<void> }> {
  const directory = await ensureDataDir(dataDir);
  const path = join(directory, LOCK_NAME);
  const lock = await acquireLockFile(path).catch((error: unknown) => {
    throw fileProblem('lock the data directory with', path, error);
  });
  if ('heldByPid' in lock)
    throw new StartupError(
      `Another portico is already running on the data directory ${directory} (process ${lock.heldByPid}); ` +
        'stop it or set PORTICO_DATA_DIR to another directory.',
    );
  return lock;
}
