import { randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '../../../runtime/startup-error.ts';
import { fileProblem, isErrorCode } from '../data-dir/file-problem.ts';

const PASSWORD_BYTES = 32;
const OWNER_ONLY = 0o600;

/** The password of an ordinary role. It is set at each start, so a lost one is replaced. */
export async function readOrCreateRolePassword(dataDir: string, role: 'owner' | 'service'): Promise<string> {
  const path = join(dataDir, `postgres.${role}.password`);
  try {
    return (await readPassword(path)) ?? (await createPassword(path));
  } catch (error) {
    throw fileProblem('write the database password to', path, error);
  }
}

/** The password of the embedded PostgreSQL's superuser, generated before its cluster. */
export async function readOrCreatePassword(dataDir: string, clusterExists: boolean): Promise<string> {
  const path = join(dataDir, 'postgres.password');
  try {
    const existing = await readPassword(path);
    if (existing !== undefined) return existing;
    if (clusterExists)
      throw new StartupError(
        `The database password is missing; restore ${path} or remove ${join(dataDir, 'postgres')} to start empty.`,
      );
    return await createPassword(path);
  } catch (error) {
    throw fileProblem('write the database password to', path, error);
  }
}

/** Linked atomically: a crash never leaves half a password that the cluster does not know. */
async function createPassword(path: string): Promise<string> {
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const aside = `${path}.${randomUUID()}`;
  try {
    await writeFile(aside, `${password}\n`, { flag: 'wx', mode: OWNER_ONLY, flush: true });
    await link(aside, path);
  } finally {
    await rm(aside, { force: true });
  }
  return password;
}

async function readPassword(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim() || undefined;
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
