import { join } from 'node:path';
import { StartupError } from '../../runtime/startup-error.ts';
import { ensureDataDir } from './data-dir.ts';
import { fileProblem } from './file-problem.ts';
import { acquireLockFile } from './lock-file.ts';

const LOCK_NAME = 'portico.lock';

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
