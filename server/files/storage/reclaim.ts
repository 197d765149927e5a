/**
 * Gives the memory of a piece of content back at once. Left to the collector, what a large file leaves behind makes it
 * go over the whole heap some fifty times for each gigabyte, which takes longer than writing or reading it does, and
 * on a busy machine it falls behind. A piece of Node's that has its memory for itself is of no use to anybody else.
 */
export function reclaim({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
