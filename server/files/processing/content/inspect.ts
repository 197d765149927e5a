import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { createJsonCheck } from './json-check.ts';

/** Reading stops at `maxBytes`, so a file that is too large has no size or hash. */
export type Inspection =
  | { size: number; sha256: string; problem?: 'empty' | 'content_type_mismatch' }
  | { problem: 'too_large' };

/** `file-type` needs at most this many bytes from the start of a file. */
const SAMPLE_BYTES = 4_100;

type TypeCheck = { write(chunk: Uint8Array): void; end(): Promise<boolean> };

/**
 * Reads the content once, without buffering it: size, SHA-256, and whether it starts as the declared type. Other
 * data further in (a script in a PNG, an appended archive) is accepted, because the file is only served as a
 * download of the declared type.
 */
export async function inspectContent({
  content,
  declaredType,
  maxBytes,
  onRead,
}: {
  content: Readable;
  declaredType: string;
  maxBytes: number;
  /** Called when a chunk is no longer needed. */
  onRead?: (piece: Uint8Array) => void;
}): Promise<Inspection> {
  const hash = createHash('sha256');
  const check = declaredType === 'application/json' ? jsonTypeCheck() : magicTypeCheck(declaredType);
  let size = 0;
  // Leaving the loop destroys the stream.
  for await (const chunk of content as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return { problem: 'too_large' };
    hash.update(chunk);
    check.write(chunk);
    onRead?.(chunk);
  }
  const summary = { size, sha256: hash.digest('hex') };
  if (size === 0) return { ...summary, problem: 'empty' };
  return (await check.end()) ? summary : { ...summary, problem: 'content_type_mismatch' };
}

/** JSON has no magic bytes, so the whole content is checked. */
function jsonTypeCheck(): TypeCheck {
  const json = createJsonCheck();
  return { write: json.write, end: async () => json.end() };
}

/** Types that `file-type` may report for each declared type. */
const REPORTED_TYPES: ReadonlyMap<string, readonly string[]> = new Map([
  ['image/jpeg', ['image/jpeg']],
  // An animated PNG is a valid PNG.
  ['image/png', ['image/png', 'image/apng']],
  ['application/pdf', ['application/pdf']],
  // Decided by the major brand. M4V is MP4 with Apple's brand; QuickTime, 3GPP, audio and HEIC are other formats.
  ['video/mp4', ['video/mp4', 'video/x-m4v']],
]);

/** `file-type` skips these prefixes and reports the type after them; other programs do not. */
const SKIPPED_PREFIXES = [Buffer.from('ID3'), Buffer.from([0xef, 0xbb, 0xbf])];

function magicTypeCheck(declaredType: string): TypeCheck {
  const sample = Buffer.alloc(SAMPLE_BYTES);
  let filled = 0;
  return {
    write(chunk) {
      if (filled === SAMPLE_BYTES) return;
      const taken = chunk.subarray(0, SAMPLE_BYTES - filled);
      sample.set(taken, filled);
      filled += taken.length;
    },
    async end() {
      const beginning = sample.subarray(0, filled);
      if (SKIPPED_PREFIXES.some((prefix) => beginning.subarray(0, prefix.length).equals(prefix)))
        return false;
      // Loaded for the first file that is not JSON, not at each start.
      const { fileTypeFromBuffer } = await import('file-type');
      const found = await fileTypeFromBuffer(beginning);
      return found !== undefined && (REPORTED_TYPES.get(declaredType) ?? []).includes(found.mime);
    },
  };
}
