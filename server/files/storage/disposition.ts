/**
 * `Content-Disposition` of a download (RFC 6266): saved, never shown in place. The plain `filename` is for old clients
 * and has only what no parser stumbles over; `filename*` (RFC 8187) has the name itself.
 */
export function attachment(filename: string): string {
  const plain = filename.replace(NOT_PLAIN, '_');
  const encoded = encodeURIComponent(filename).replace(NOT_ATTR_CHAR, percentEncode);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** Percent signs too: some clients decode them in the plain form. */
const NOT_PLAIN = /[^A-Za-z0-9 ._()+,=@-]/gu;
/** What encodeURIComponent leaves as it is but RFC 8187, section 3.2.1, does not allow. */
const NOT_ATTR_CHAR = /['()*]/g;

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
