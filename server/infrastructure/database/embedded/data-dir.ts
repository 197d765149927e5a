import { access, chmod, constants, mkdir, realpath, stat } from 'node:fs/promises';
import { fileProblem, isErrorCode } from './file-problem.ts';

const OWNER_ONLY = 0o700;
/** PostgreSQL runs as another user when portico runs as root, and has to traverse the directory without listing it. */
const OTHERS_MAY_PASS = 0o711;

/** Creates the data directory if it is missing; returns its real path, so that one directory has one name. */
export async function ensureDataDir(dataDir: string): Promise<string> {
  try {
    const mode = process.getuid?.() === 0 ? OTHERS_MAY_PASS : OWNER_ONLY;
    const created = await mkdir(dataDir, { recursive: true, mode });
    // The umask may have removed bits. An existing directory keeps its mode.
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
