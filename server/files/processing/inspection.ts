import type { Readable } from 'node:stream';
import type { FileFailureCode } from '../../infrastructure/database/tables.ts';
import { reclaim } from '../storage/reclaim.ts';
import type { Storage } from '../storage/storage.ts';
import type { FileRow } from '../store.ts';
import { inspectContent } from './content/inspect.ts';
import type { Scanner } from './content/scan.ts';

export type InspectionResult = { size?: number; sha256?: string; failureCode?: FileFailureCode };

export type InspectFile = (file: FileRow, signal: AbortSignal) => Promise<InspectionResult>;

/** The record has content that the storage lacks: another data folder is configured, or a disk was lost. */
class ContentMissing extends Error {
  override readonly name = 'ContentMissing';
}

/** Reads the content once for size, hash and type, and once more for the virus scan. */
export function createInspection({
  storage,
  scanner,
}: {
  storage: Storage;
  scanner: Scanner | undefined;
}): InspectFile {
  async function open({ guid }: FileRow, signal: AbortSignal): Promise<Readable> {
    signal.throwIfAborted();
    const content = await storage.read(guid);
    if (!content) throw new ContentMissing(`the storage has no content of file ${guid}`);
    signal.addEventListener('abort', () => content.destroy(signal.reason as Error), { once: true });
    return content;
  }

  return async (file, signal) => {
    const { content_type: declaredType, max_bytes: maxBytes } = file;
    // Pre-signed URLs of an S3 store do not limit the size, so it is checked before anything is read.
    const stored = await storage.head(file.guid);
    if (stored && stored.size > maxBytes) return { failureCode: 'too_large' };
    const content = await open(file, signal);
    const { problem, ...summary } = await inspectContent({
      ...{ content, declaredType, maxBytes },
      onRead: reclaim,
    });
    if (problem !== undefined) return { ...summary, failureCode: problem };
    if (!scanner) return summary;
    const scanned = await scanner.scan(await open(file, signal), signal);
    return scanned === 'clean' ? summary : { ...summary, failureCode: scanned };
  };
}
