import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError } from '../failure.ts';

/** Undefined if there is no such file. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CliError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** Readable by its owner only, and whole even if the process is killed meanwhile. */
export async function writeJsonFile(path: string, content: unknown): Promise<void> {
  await writeAside(path, content, (aside) => rename(aside, path));
}

/** False if there is such a file already, of which nothing is changed. */
export async function createJsonFile(path: string, content: unknown): Promise<boolean> {
  let isCreated = true;
  await writeAside(path, content, (aside) =>
    link(aside, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      isCreated = false;
    }),
  );
  return isCreated;
}

async function writeAside(
  path: string,
  content: unknown,
  place: (aside: string) => Promise<void>,
): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(aside, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await place(aside);
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${(error as Error).message}`);
  } finally {
    await rm(aside, { force: true }).catch(() => undefined);
  }
}
