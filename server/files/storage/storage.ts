import type { Readable } from 'node:stream';

/** The terms of an upload link: one file, one content type, a maximum size and an expiry. */
export type UploadTerms = { guid: string; contentType: string; maxBytes: number; expiresAt: Date };

export type DownloadTerms = { guid: string; filename: string; contentType: string; expiresAt: Date };

/** The Organization that the calls of a link count for. */
export type LinkOwner = { organizationGuid: string };

/** Bytes `start` to `end`, both inclusive, within the file. */
export type ByteRange = { start: number; end: number };

export type PutTerms = {
  contentType: string;
  maxBytes: number;
  /** Called repeatedly before a write; throws to abort the put. */
  beforeWrite?: () => void;
  /** Called when a chunk is no longer needed. */
  onWritten?: (piece: Uint8Array) => void;
};
export type PutResult = 'stored' | 'exists' | 'too_large';

export type StoredContent = { guid: string; storedAt: Date };

/** Those of the files whose upload no poll has found yet. */
export type AwaitedFiles = (guids: readonly string[]) => Promise<ReadonlySet<string>>;

/** Stores the content of files, named by their guids only, never by request data. */
export type Storage = {
  /**
   * Atomic: a crash, a cut-off source or a failed put leaves nothing that `head` or `read` finds. Never replaces
   * content: of concurrent puts of one guid exactly one returns `stored`. Errors of the source are rethrown
   * unchanged, errors of the store as StorageError.
   */
  put(guid: string, content: AsyncIterable<Uint8Array>, terms: PutTerms): Promise<PutResult>;
  /**
   * The stored size; undefined when nothing is stored. Accepts an upload that came by a pre-signed URL, which can
   * no longer replace it afterwards. Pre-signed URLs do not limit the size, so check it before reading.
   */
  head(guid: string): Promise<{ size: number } | undefined>;
  read(guid: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Succeeds when nothing is stored. */
  delete(guid: string): Promise<void>;
  uploadUrl(terms: UploadTerms & LinkOwner): Promise<string>;
  downloadUrl(terms: DownloadTerms & LinkOwner): Promise<string>;
  /**
   * Deletes unfinished puts, and uploads that came after their file was accepted. Keeps uploads that a poll has still to
   * find. `olderThan` must exceed the lifetime of links. Returns the number of deletions, which is bounded per call.
   */
  sweepTemporary(olderThan: Date, awaitedOf: AwaitedFiles): Promise<number>;
  /** Throws StorageFull when so many more bytes would leave less than the required free space. */
  requireSpace(bytes: number): Promise<void>;
  /**
   * One page of the stored content in the store's own order; `next` is undefined at the end. A page may be empty
   * before the end.
   */
  listContent(after: string | undefined): Promise<{ contents: StoredContent[]; next: string | undefined }>;
};

/** The store is unreachable or full, or refused a request. A retry may succeed. */
export class StorageError extends Error {
  override readonly name: string = 'StorageError';

  constructor(operation: string, cause: unknown) {
    super(`storage could not ${operation}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** Throws an error of the store as a StorageError. */
export function failsTo(operation: string) {
  return (error: unknown): never => {
    throw new StorageError(operation, error);
  };
}

export class StorageFull extends StorageError {
  constructor(freeBytes: number, minFreeBytes: number) {
    super('write', `${freeBytes} bytes are free, ${minFreeBytes} must remain free`);
  }
}
