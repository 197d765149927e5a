import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { fileTypeFromBuffer } from 'file-type';
import { createJsonCheck } from './json-check.ts';

/** Of what is too large the rest is not read, so there is nothing to say of the whole. */
export type Inspection =
  | { size: number; sha256: string; problem?: 'empty' | 'content_type_mismatch' }
  | { problem: 'too_large' };

/** What tells a type stands at the beginning; `file-type` needs no more than this. */
const SAMPLE_BYTES = 4_100;

type TypeCheck = { write(chunk: Uint8Array): void; end(): Promise<boolean> };

/**
 * One pass over the content, of which it holds a chunk and the beginning: size, SHA-256, and whether it is what it was
 * declared to be. A file is what it begins as: something else hidden further in (a script in a PNG, an archive behind
 * it) does not change that, since it is only ever handed out as a download of the declared type.
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
  /** Nobody here needs this piece any more. */
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

/** JSON has no magic bytes: all of it has to be JSON. */
function jsonTypeCheck(): TypeCheck {
  const json = createJsonCheck();
  return { write: json.write, end: async () => json.end() };
}

/** What `file-type` may call a file that was declared so. */
const FOUND_AS: ReadonlyMap<string, readonly string[]> = new Map([
  ['image/jpeg', ['image/jpeg']],
  // An animated PNG is a PNG to whoever does not know better.
  ['image/png', ['image/png', 'image/apng']],
  ['application/pdf', ['application/pdf']],
  // By the major brand. Apple's M4V is an MP4 with its own brand; QuickTime, 3GPP, audio and HEIC are other formats.
  ['video/mp4', ['video/mp4', 'video/x-m4v']],
]);

/** Prefixes that `file-type` looks past, to what follows; to everyone else such a file is not what follows. */
const LOOKED_PAST = [Buffer.from('ID3'), Buffer.from([0xef, 0xbb, 0xbf])];

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
      if (LOOKED_PAST.some((prefix) => beginning.subarray(0, prefix.length).equals(prefix))) return false;
      const found = await fileTypeFromBuffer(beginning);
      return found !== undefined && (FOUND_AS.get(declaredType) ?? []).includes(found.mime);
    },
  };
}
