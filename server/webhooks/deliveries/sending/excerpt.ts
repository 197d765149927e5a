export const EXCERPT_BYTES = 1_024;

/**
 * The start of a response body as text that PostgreSQL can store: well-formed and without NUL. Each invalid byte
 * becomes U+FFFD, which takes three bytes, so the text is cut a second time.
 */
export function excerptOf(body: Buffer): string {
  const text = beginning(body).replaceAll('\0', '\ufffd');
  return Buffer.byteLength(text) <= EXCERPT_BYTES ? text : beginning(Buffer.from(text));
}

function beginning(body: Buffer): string {
  if (body.length <= EXCERPT_BYTES) return body.toString();
  // `stream` omits a character cut in two instead of replacing it.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return decoder.decode(body.subarray(0, EXCERPT_BYTES), { stream: true });
}
