/** Content in memory can be sent again after a failure. S3 takes parts of at least 5 MiB. */
const PART_BYTES = 8 * 1_048_576;
/** The limit of S3 for one object. */
const MAX_PARTS = 10_000;

export class TooLarge extends Error {}

/** Parts of the same size, except for the last. Throws TooLarge for content over `maxBytes`. */
export async function* partsOf(
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Buffer, undefined> {
  const partBytes = Math.max(PART_BYTES, Math.ceil(maxBytes / MAX_PARTS));
  let total = 0;
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    total += chunk.byteLength;
    if (total > maxBytes) throw new TooLarge();
    chunks.push(chunk);
    bytes += chunk.byteLength;
    while (bytes >= partBytes) {
      const collected = Buffer.concat(chunks);
      yield collected.subarray(0, partBytes);
      chunks = [collected.subarray(partBytes)];
      bytes -= partBytes;
    }
  }
  if (bytes > 0) yield Buffer.concat(chunks);
}
