/**
 * `Content-Disposition` of a download (RFC 6266). The plain `filename` for old clients has only safe characters;
 * `filename*` (RFC 8187) has the exact name.
 */
export function attachment(filename: string): string {
  const plain = filename.replace(NOT_PLAIN, '_');
  const encoded = encodeURIComponent(filename).replace(NOT_ATTR_CHAR, percentEncode);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** Excludes percent signs, which some clients decode in the plain form. */
const NOT_PLAIN = /[^A-Za-z0-9 ._()+,=@-]/gu;
/** Characters that encodeURIComponent leaves but RFC 8187, section 3.2.1, forbids. */
const NOT_ATTR_CHAR = /['()*]/g;

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
