import type { Deletions } from '../../files/storage/cleanup/deletions.ts';
import type { Storage } from '../../files/storage/storage.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import { type Clock, later } from '../../infrastructure/runtime/clock.ts';
import * as store from './content-store.ts';
import { type Frame, frameOf, type Head, InvalidFrame } from './frames.ts';
import { readRows } from './rows-store.ts';
import { plain } from './secrets.ts';
import { TRANSFERRED, type TransferredTable } from './tables-store.ts';

const FILES = TRANSFERRED.find(({ name }) => name === 'files') as TransferredTable;
/** Longer than an import takes: hundreds of gigabytes over a slow link may need days. */
const DELETE_AFTER_MS = 14 * 24 * 3_600_000;

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

/** Stores content before the import commits. A crash leaves a scheduled deletion. */
export function createImportedContent({ database, clock, storage, deletions }: Deps) {
  const dueAt = later(clock.now(), DELETE_AFTER_MS);
  let count = 0;

  async function* piecesOf(frames: AsyncIterator<Frame>): AsyncGenerator<Buffer, void> {
    for (;;) {
      const { value, done } = await frames.next();
      if (done || (value.head.kind !== 'content' && value.head.kind !== 'file end'))
        throw new InvalidFrame('the content of a file is incomplete');
      if (value.head.kind === 'file end') return;
      yield value.payload;
    }
  }

  return {
    async store({ guid, contentType, size }: FileHead, frames: AsyncIterator<Frame>): Promise<void> {
      await store.scheduleDeletion(database.queries, guid, dueAt);
      const pieces = piecesOf(frames);
      // A storage may close its source early, for example when it has the content already.
      const source = { [Symbol.asyncIterator]: () => ({ next: () => pieces.next() }) };
      const result = await storage.put(guid, source, { contentType, maxBytes: size, size });
      if (result === 'too_large') throw new InvalidFrame('the content of a file is too large');
      for await (const _rest of pieces);
      count += 1;
    },

    /** In the transaction of the import. */
    async keep(transaction: Transaction, organizationGuid: string): Promise<number> {
      const kept = await store.keepContent(transaction, organizationGuid, dueAt);
      if (kept !== count) throw new InvalidFrame('a file of the export has no record');
      return kept;
    },

    async discard(): Promise<void> {
      await store.expediteDeletions(database.queries, dueAt, clock.now());
      await deletions.sweep();
    },
  };
}
