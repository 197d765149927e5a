import { access, chmod, constants, mkdir, realpath, stat } from 'node:fs/promises';
import { fileProblem, isErrorCode } from './file-problem.ts';

const OWNER_ONLY = 0o700;
/** As root PostgreSQL runs as another user, who has to pass through the directory without listing it. */
const OTHERS_MAY_PASS = 0o711;

/** Creates the data directory when it is missing; answers its real path, so that one directory has one name. */
export async function ensureDataDir(dataDir: string): Promise<string> {
  try {
    const mode = process.getuid?.() === 0 ? OTHERS_MAY_PASS : OWNER_ONLY;
    const created = await mkdir(dataDir, { recursive: true, mode });
    // The umask may have taken bits away; a directory that was there before keeps its owner's choice.
    if (created !== undefined) await chmod(dataDir, mode);
    if (!(await stat(dataDir)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    await access(dataDir, constants.W_OK | constants.X_OK);
    return await realpath(dataDir);
  } catch (error) {
    throw fileProblem('use the data directory', dataDir, error);
  }
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
