import { link, mkdir, open, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type Guids, isGuid } from '../../../infrastructure/runtime/guid.ts';
import {
  type ByteRange,
  type PutResult,
  type PutTerms,
  type Storage,
  StorageError,
  StorageFull,
} from '../storage.ts';
import type { Links } from './links.ts';
import { listFolder } from './listing.ts';
import { FOLDER_MODE, syncFolders, writeWhole } from './write-file.ts';

/** Where puts write before their file has its name; in the same file system, or it could not be linked. */
const TEMPORARY = 'temporary';
/** Between two looks at the free space of the disk; several uploads share it, so the floor is far above this. */
const SPACE_CHECK_BYTES = 16 * 1_048_576;
/** Leftovers removed in one sweep. */
const MAX_SWEPT = 1_000;

/**
 * A file is `<folder>/ef/cd/<guid that ends in cdef>`: the end of a guid is chance, its beginning is the time, and
 * would put the files of weeks side by side. The name comes from our guid alone.
 */
export function createFolderStorage({
  folder,
  links,
  guids,
  minFreeBytes,
  freeBytes = freeBytesOf,
}: {
  folder: string;
  links: Links;
  guids: Guids;
  minFreeBytes: number;
  /** Of the file system that a folder is in. */
  freeBytes?: (folder: string) => Promise<number>;
}): Storage {
  const temporaryFolder = join(folder, TEMPORARY);

  function foldersOf(guid: string): [top: string, inner: string] {
    if (!isGuid(guid)) throw new Error('the name of a file must be a guid');
    const top = join(folder, guid.slice(-2));
    return [top, join(top, guid.slice(-4, -2))];
  }

  function pathOf(guid: string): string {
    return join(foldersOf(guid)[1], guid);
  }

  async function put(guid: string, content: AsyncIterable<Uint8Array>, terms: PutTerms): Promise<PutResult> {
    if (await head(guid)) return 'exists';
    const temporary = join(temporaryFolder, guids.next());
    try {
      await mkdir(temporaryFolder, { recursive: true, mode: FOLDER_MODE }).catch(failsTo('write'));
      const written = await writeWhole(temporary, content, { ...terms, beforeWrite: guarded(terms) });
      return written === 'too_large' ? written : await name(temporary, guid).catch(failsTo('write'));
    } finally {
      await rm(temporary, { force: true }).catch(failsTo('clean up'));
    }
  }

  async function requireSpace(bytes: number): Promise<void> {
    if (minFreeBytes === 0) return;
    await mkdir(temporaryFolder, { recursive: true, mode: FOLDER_MODE }).catch(failsTo('write'));
    const free = await freeBytes(temporaryFolder).catch(failsTo('look'));
    if (free - bytes < minFreeBytes) throw new StorageFull(free, minFreeBytes);
  }

  /** Asks the disk before the first batch and then every so many bytes. */
  function guarded({ beforeWrite }: PutTerms): (bytes: number) => Promise<void> {
    let unchecked = SPACE_CHECK_BYTES;
    return async (bytes) => {
      beforeWrite?.();
      unchecked += bytes;
      if (unchecked < SPACE_CHECK_BYTES) return;
      unchecked = 0;
      await requireSpace(bytes);
    };
  }

  /** A link, not a rename: it fails when the name is taken, whoever took it and however closely. */
  async function name(temporary: string, guid: string): Promise<PutResult> {
    const [top, inner] = foldersOf(guid);
    await mkdir(inner, { recursive: true, mode: FOLDER_MODE });
    try {
      await link(temporary, pathOf(guid));
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return 'exists';
      throw error;
    }
    await syncFolders(inner, top, folder);
    return 'stored';
  }

  async function head(guid: string): Promise<{ size: number } | undefined> {
    const found = await stat(pathOf(guid)).catch(undefinedWhenAbsent).catch(failsTo('look'));
    return found && { size: found.size };
  }

  async function read(guid: string, range?: ByteRange): Promise<Readable | undefined> {
    const handle = await open(pathOf(guid), 'r').catch(undefinedWhenAbsent).catch(failsTo('read'));
    return handle?.createReadStream(range);
  }

  async function sweepTemporary(olderThan: Date): Promise<number> {
    const leftovers = await readdir(temporaryFolder).catch(undefinedWhenAbsent).catch(failsTo('sweep'));
    let removed = 0;
    for (const leftover of leftovers ?? []) {
      if (removed === MAX_SWEPT) break;
      const path = join(temporaryFolder, leftover);
      // By the moment of the last write: a slow upload that is still coming in is not a leftover.
      const found = await stat(path).catch(undefinedWhenAbsent).catch(failsTo('sweep'));
      if (!found || found.mtime >= olderThan) continue;
      await rm(path, { force: true }).catch(failsTo('sweep'));
      removed += 1;
    }
    return removed;
  }

  return {
    put,
    head,
    read,
    delete: (guid) => rm(pathOf(guid), { force: true }).catch(failsTo('delete')),
    uploadUrl: async (terms) => links.uploadUrl(terms),
    downloadUrl: async (terms) => links.downloadUrl(terms),
    sweepTemporary,
    requireSpace,
    listContent: (after) => listFolder(folder, after).catch(failsTo('list')),
  };
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}

function undefinedWhenAbsent(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}

function failsTo(operation: string) {
  return (error: unknown): never => {
    throw new StorageError(operation, error);
  };
}
