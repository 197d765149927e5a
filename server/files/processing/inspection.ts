import type { Readable } from 'node:stream';
import type { FileFailureCode } from '../../infrastructure/database/tables.ts';
import { reclaim } from '../storage/reclaim.ts';
import type { Storage } from '../storage/storage.ts';
import type { FileRow } from '../store.ts';
import { inspectContent } from './content/inspect.ts';
import type { Scanner } from './content/scan.ts';

/** What the content of a file turned out to be. */
export type Verdict = { size?: number; sha256?: string; failureCode?: FileFailureCode };

export type Examine = (file: FileRow, signal: AbortSignal) => Promise<Verdict>;

/** The content is not where it was stored: another folder than the one it was uploaded to, or a lost disk. */
class ContentMissing extends Error {
  override readonly name = 'ContentMissing';
}

/**
 * Looks at the content of a file: whether it is there at all, is what it was declared to be, and is clean. Each look
 * reads it once, as it comes; `signal` ends the reading.
 */
export function createExamination({
  storage,
  scanner,
}: {
  storage: Storage;
  scanner: Scanner | undefined;
}): Examine {
  async function open({ guid }: FileRow, signal: AbortSignal): Promise<Readable> {
    signal.throwIfAborted();
    const content = await storage.read(guid);
    if (!content) throw new ContentMissing(`there is no content of the file ${guid}`);
    signal.addEventListener('abort', () => content.destroy(signal.reason as Error), { once: true });
    return content;
  }

  return async (file, signal) => {
    const { content_type: declaredType, max_bytes: maxBytes } = file;
    // A store's own link does not bound the size, and what is too large is not worth reading.
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
