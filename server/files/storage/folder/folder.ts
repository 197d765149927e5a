import { link, mkdir, open, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type Guids, isGuid } from '../../../infrastructure/runtime/guid.ts';
import { deleteEach } from '../delete-each.ts';
import {
  type ByteRange,
  failsTo,
  type PutResult,
  type PutTerms,
  type Storage,
  StorageFull,
} from '../storage.ts';
import type { Links } from './links.ts';
import { listFolder, undefinedWhenAbsent } from './listing.ts';
import { createFileWriter, FOLDER_MODE, syncFolders } from './write-file.ts';

/** Content is written here and then linked to its name, so both must be on one file system. */
const TEMPORARY = 'temporary';
/** Free disk space is checked at this interval of bytes. Concurrent uploads share it, so the minimum must be far larger. */
const SPACE_CHECK_BYTES = 16 * 1_048_576;

/**
 * A file is stored as `<folder>/ef/cd/<guid that ends in cdef>`. The end of a guid is random; its start is the
 * time, which would put the files of whole weeks into one folder.
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
  /** Free bytes of the file system of a folder. */
  freeBytes?: (folder: string) => Promise<number>;
}): Storage {
  const temporaryFolder = join(folder, TEMPORARY);
  const writeFile = createFileWriter();

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
      const written = await writeFile(temporary, content, { ...terms, beforeWrite: guarded(terms) });
      return written === 'too_large' ? written : await linkTo(temporary, guid).catch(failsTo('write'));
    } finally {
      await rm(temporary, { force: true }).catch(failsTo('clean up'));
    }
  }

  async function requireSpace(bytes: number): Promise<void> {
    if (minFreeBytes === 0) return;
    await mkdir(temporaryFolder, { recursive: true, mode: FOLDER_MODE }).catch(failsTo('write'));
    const free = await freeBytes(temporaryFolder).catch(failsTo('stat'));
    if (free - bytes < minFreeBytes) throw new StorageFull(free, minFreeBytes);
  }

  /** Checks free space before the first write and then every SPACE_CHECK_BYTES. */
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

  /** A hard link fails when the name exists, unlike a rename, so concurrent puts cannot replace each other. */
  async function linkTo(temporary: string, guid: string): Promise<PutResult> {
    const [top, inner] = foldersOf(guid);
    await mkdir(inner, { recursive: true, mode: FOLDER_MODE });
    try {
      await link(temporary, pathOf(guid));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return 'exists';
      throw error;
    }
    await syncFolders(inner, top, folder);
    return 'stored';
  }

  async function head(guid: string): Promise<{ size: number } | undefined> {
    const found = await stat(pathOf(guid)).catch(undefinedWhenAbsent).catch(failsTo('stat'));
    return found && { size: found.size };
  }

  async function read(guid: string, range?: ByteRange): Promise<Readable | undefined> {
    const handle = await open(pathOf(guid), 'r').catch(undefinedWhenAbsent).catch(failsTo('read'));
    return handle?.createReadStream(range);
  }

  async function sweepTemporary(olderThan: Date): Promise<number> {
    const names = await readdir(temporaryFolder).catch(undefinedWhenAbsent).catch(failsTo('sweep'));
    return deleteEach(names ?? [], async (name) => {
      const path = join(temporaryFolder, name);
      // By the time of the last write, so that slow uploads in progress are kept.
      const found = await stat(path).catch(undefinedWhenAbsent);
      if (!found || found.mtime >= olderThan) return false;
      await rm(path, { force: true });
      return true;
    });
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
