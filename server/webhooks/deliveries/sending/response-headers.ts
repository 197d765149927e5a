/** Of names and values together, in characters. */
export const MAX_HEADER_CHARACTERS = 2_048;

/** Headers that carry credentials, or are likely to. */
const SECRET =
  /cookie|auth|token|secret|passw|credential|session|assertion|signature|jwt|[cx]srf|api[-_]?key|(^|[-_])(key|sid)$/;
/** Not storable in PostgreSQL, or able to forge lines of a page. */
const CONTROL_CHARACTERS = /\p{Cc}/gu;

/** The response headers that are stored with an attempt: without secrets, up to the limit. */
export function keptHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  let left = MAX_HEADER_CHARACTERS;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || SECRET.test(name)) continue;
    const text = (typeof value === 'string' ? value : value.join(', ')).replaceAll(CONTROL_CHARACTERS, ' ');
    left -= name.length + text.length;
    if (left < 0) break;
    kept[name] = text.toWellFormed();
  }
  return kept;
}
