import type { Deletions } from '../../files/storage/cleanup/deletions.ts';
import type { Storage } from '../../files/storage/storage.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import { type Clock, later } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import * as store from './content-store.ts';
import { type Frame, frameOf, type Head, InvalidFrame } from './frames.ts';
import { readRows } from './rows-store.ts';
import { plain } from './secrets.ts';
import { TRANSFERRED, type TransferredTable } from './tables-store.ts';

const FILES = TRANSFERRED.find(({ name }) => name === 'files') as TransferredTable;
/** Longer than an import takes: hundreds of gigabytes over a slow link may need days. */
const DELETE_AFTER_MS = 14 * 24 * 3_600_000;
/** Requests to the storage at the same time. */
const HEADS_AT_ONCE = 20;

type FileRow = { guid: string; content_type: string; failed_at: string | null };
type FileHead = Extract<Head, { kind: 'file' }>;

/** Also of files whose upload has arrived and is not processed yet. */
export async function* readContents(
  transaction: Transaction,
  storage: Storage,
  organizationGuid: string,
): AsyncGenerator<Buffer, void> {
  for await (const { rows } of readRows(transaction, FILES, organizationGuid))
    for (const row of rows) {
      const { guid: dashed, content_type: contentType, failed_at: failedAt } = JSON.parse(row) as FileRow;
      const guid = plain(dashed);
      const stored = failedAt === null ? await storage.head(guid) : undefined;
      const content = stored && (await storage.read(guid));
      if (!stored || !content) continue;
      yield frameOf({ kind: 'file', guid, contentType, size: stored.size });
      for await (const piece of content) yield frameOf({ kind: 'content' }, piece as Buffer);
      yield frameOf({ kind: 'file end' });
    }
}

type Deps = { database: Database; clock: Clock; storage: Storage; deletions: Deletions };

/**
 * Stores content before the import commits. A crash leaves a scheduled deletion, whose `dueAt` identifies the import. A sweep
 * may still delete the content of an earlier import or of a removed Organization: that is not taken for stored.
 */
export function createImportedContent({ database, clock, storage, deletions }: Deps) {
  const dueAt = later(clock.now(), DELETE_AFTER_MS);
  let count = 0;

  async function* piecesOf(size: number, frames: AsyncIterator<Frame>): AsyncGenerator<Buffer, void> {
    for (let left = size; ; ) {
      const { value, done } = await frames.next();
      if (done || (value.head.kind !== 'content' && value.head.kind !== 'file end'))
        throw new InvalidFrame('the content of a file is incomplete');
      const isEnd = value.head.kind === 'file end';
      left -= value.payload.length;
      if (left < 0 || (isEnd && left > 0)) throw new InvalidFrame('the content of a file has another size');
      if (isEnd) return;
      yield value.payload;
    }
  }

  async function areStored(guids: readonly string[]): Promise<boolean> {
    for (let start = 0; start < guids.length; start += HEADS_AT_ONCE) {
      const some = guids.slice(start, start + HEADS_AT_ONCE);
      const heads = await Promise.all(some.map((guid) => storage.head(guid)));
      if (heads.includes(undefined)) return false;
    }
    return true;
  }

  return {
    async store(
      { guid, contentType, size }: FileHead,
      frames: AsyncIterator<Frame>,
    ): Promise<Failure | undefined> {
      if (!(await deletions.takeOver(guid, dueAt))) return isBeingDeleted();
      const pieces = piecesOf(size, frames);
      // A storage may close its source early, for example when it has the content already.
      const source = { [Symbol.asyncIterator]: () => ({ next: () => pieces.next() }) };
      await storage.put(guid, source, { contentType, maxBytes: size });
      for await (const _rest of pieces);
      count += 1;
      return undefined;
    },

    /** In the transaction of the import. */
    async keep(transaction: Transaction, organizationGuid: string): Promise<number | Failure> {
      const kept = await store.keepContent(transaction, organizationGuid, dueAt);
      if (kept.length !== count) throw new InvalidFrame('a file of the export has no record');
      // A removal from here has scheduled them for files without content, too, whose upload may follow.
      if (!(await deletions.cancelOf(transaction, organizationGuid))) return isBeingDeleted();
      return (await areStored(kept)) ? count : isBeingDeleted();
    },

    async discard(): Promise<void> {
      // A repeated import is refused while a sweep deletes its content, so this goes on until none of it is left. Content of
      // a removed Organization may take hours.
      let left = await store.expediteDeletions(database.queries, dueAt);
      while (left > 0) {
        const deleted = await deletions.sweep();
        if (deleted === 0) return;
        left -= deleted;
      }
    },
  };
}

function isBeingDeleted(): Failure {
  return new Failure(
    'state_conflict',
    'Content of an earlier import or of the removed Organization is still being deleted; import the file again in ten minutes',
  );
}
