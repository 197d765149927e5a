import type { Readable } from 'node:stream';

/** What a link allows: one PUT of one file, of this type, up to this size, until this moment. */
export type UploadTerms = { guid: string; contentType: string; maxBytes: number; expiresAt: Date };

/** How a download presents itself to whoever follows the link. */
export type DownloadTerms = { guid: string; filename: string; contentType: string; expiresAt: Date };

/** Bytes `start` to `end`, both included, as in a Range header; both lie within the file. */
export type ByteRange = { start: number; end: number };

export type PutTerms = {
  contentType: string;
  maxBytes: number;
  /** Called now and then before more is written; throws to end the put. */
  beforeWrite?: () => void;
  /** Nobody here needs this piece of the content any more. Where it matters how soon, the source asks to be told. */
  onWritten?: (piece: Uint8Array) => void;
};
export type PutResult = 'stored' | 'exists' | 'too_large';

/** A piece of content that is stored under its name, and when it was written. */
export type StoredContent = { guid: string; storedAt: Date };

/** Where the bytes of files are. Everything is named by the file's guid, never by anything that a request said. */
export type Storage = {
  /**
   * Whole or not at all: a crash, a cut-off source or a failed put leaves nothing that `head` or `read` would find.
   * Never replaces what is there: of two puts of one guid at the same time exactly one is `stored`.
   * An error of the source comes out as it is, one of the store as a StorageError. The source may be left unread.
   */
  put(guid: string, content: AsyncIterable<Uint8Array>, terms: PutTerms): Promise<PutResult>;
  /**
   * The size of what is stored; undefined when nothing is (yet). Takes in what came by a link of the store's own:
   * from then on the link replaces nothing. Such a link cannot bound the size, so compare it before reading.
   */
  head(guid: string): Promise<{ size: number } | undefined>;
  /** undefined when nothing is stored. */
  read(guid: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Also when there is nothing. */
  delete(guid: string): Promise<void>;
  uploadUrl(terms: UploadTerms): Promise<string>;
  downloadUrl(terms: DownloadTerms): Promise<string>;
  /**
   * Removes what puts left behind that never ended, and what came by a link after its file was taken in.
   * `olderThan` must lie further back than a link lives. Answers how many it removed; bounded, so call it again.
   */
  sweepTemporary(olderThan: Date): Promise<number>;
  /** Throws StorageFull unless so many bytes more leave the free space that has to stay. */
  requireSpace(bytes: number): Promise<void>;
  /**
   * A page of what is stored, in an order of the store's own; `next` is where to go on, undefined at the end. Bounded,
   * so a page may be empty before the end.
   */
  listContent(after: string | undefined): Promise<{ contents: StoredContent[]; next: string | undefined }>;
};

/** The store could not do what was asked: unreachable, full, or it refused. Trying again may help. */
export class StorageError extends Error {
  override readonly name: string = 'StorageError';

  constructor(operation: string, cause: unknown) {
    super(`storage could not ${operation}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** The free space of the disk is below its floor. */
export class StorageFull extends StorageError {
  constructor(freeBytes: number, minFreeBytes: number) {
    super('write', `${freeBytes} bytes are free, and ${minFreeBytes} have to stay free`);
  }
}
