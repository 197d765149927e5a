import { StorageError } from '../storage.ts';

export class TooLarge extends Error {}

/**
 * The pieces of content with exactly `size` bytes; throws for any other. Each piece is held back until the next one
 * arrives, so that the store gets the last byte only when the content has ended.
 */
export async function* exactly(
  content: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  let held: Uint8Array | undefined;
  for await (const piece of content) {
    if (piece.byteLength === 0) continue;
    bytes += piece.byteLength;
    if (bytes > size) throw new TooLarge();
    if (held) yield held;
    held = piece;
  }
  if (bytes < size) throw new StorageError('write', `the content has ${bytes} instead of ${size} bytes`);
  if (held) yield held;
}
