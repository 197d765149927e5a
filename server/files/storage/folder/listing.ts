import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isGuid } from '../../../infrastructure/runtime/guid.ts';
import type { StoredContent } from '../storage.ts';

/** A page ends with the folder in which it reaches either limit. */
const PAGE_FILES = 1_000;
const PAGE_FOLDERS = 1_000;

const FOLDER_NAME = /^[0-9a-f]{2}$/;

/**
 * Lists the content in `<folder>/ef/cd/`, folders in name order. `after` and `next` name an inner folder as
 * `ef/cd`.
 */
export async function listFolder(
  folder: string,
  after: string | undefined,
): Promise<{ contents: StoredContent[]; next: string | undefined }> {
  const contents: StoredContent[] = [];
  let folders = 0;
  for (const top of await foldersIn(folder)) {
    if (after !== undefined && top < after.slice(0, 2)) continue;
    for (const inner of await foldersIn(join(folder, top))) {
      const place = `${top}/${inner}`;
      if (after !== undefined && place <= after) continue;
      contents.push(...(await contentsOf(join(folder, top, inner))));
      folders += 1;
      if (contents.length >= PAGE_FILES || folders >= PAGE_FOLDERS) return { contents, next: place };
    }
  }
  return { contents, next: undefined };
}

async function foldersIn(folder: string): Promise<string[]> {
  return (await namesIn(folder)).filter((name) => FOLDER_NAME.test(name)).sort();
}

async function contentsOf(folder: string): Promise<StoredContent[]> {
  const contents: StoredContent[] = [];
  for (const guid of (await namesIn(folder)).filter(isGuid)) {
    const found = await stat(join(folder, guid)).catch(undefinedWhenAbsent);
    if (found) contents.push({ guid, storedAt: found.mtime });
  }
  return contents;
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(undefinedWhenAbsent)) ?? [];
}

export function undefinedWhenAbsent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
