export type Bytes = Uint8Array<ArrayBuffer>;

export const HMAC = { name: 'HMAC', hash: 'SHA-256' };

export function bytesOf(text: string): Bytes {
  return new TextEncoder().encode(text) as Bytes;
}

/** Undefined for values that are not raw, such as a body that a framework has parsed. */
export function rawBytesOf(body: unknown): Bytes | undefined {
  if (typeof body === 'string') return bytesOf(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  return ArrayBuffer.isView(body)
    ? (new Uint8Array(body.buffer, body.byteOffset, body.byteLength) as Bytes)
    : undefined;
}

export function concat(first: Bytes, second: Bytes): Bytes {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
