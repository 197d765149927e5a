/**
 * Frees the memory of a chunk immediately. Without this, a large file makes the garbage collector scan the whole
 * heap about fifty times per gigabyte, which takes longer than the file I/O. Chunks that share their memory are
 * left alone.
 */
export function reclaim({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
