import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { OpenableContent } from './files/source.ts';

/** A file of this machine for `files.upload`: read as a stream, again for each attempt, never as a whole. */
export async function fileFromPath(path: string): Promise<OpenableContent> {
  const { size } = await stat(path);
  return {
    size,
    name: basename(path),
    stream: () => Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>,
  };
}
