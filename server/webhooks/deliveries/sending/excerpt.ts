/** What of a response is kept for people to read. */
export const EXCERPT_BYTES = 1_024;

/**
 * The beginning of a body as text that PostgreSQL can store: well-formed, without NUL, and no longer than
 * EXCERPT_BYTES also where each bad byte has become U+FFFD, which takes three.
 */
export function excerptOf(body: Buffer): string {
  const text = beginning(body).replaceAll('\0', '\ufffd');
  return Buffer.byteLength(text) <= EXCERPT_BYTES ? text : beginning(Buffer.from(text));
}

function beginning(body: Buffer): string {
  if (body.length <= EXCERPT_BYTES) return body.toString();
  // As if more were to come, so a character that the limit cuts apart is left out instead of replaced.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return decoder.decode(body.subarray(0, EXCERPT_BYTES), { stream: true });
}
