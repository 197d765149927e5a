/** The same on every request, so that the pages can be cached. */
export const GUIDE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Scripts only from this origin and never inline. Styles from this origin, and inline with the nonce of the
 * response. Images from this origin and from memory, for previews of files. Requests to this origin and to the upload
 * origins, which also serve downloads.
 */
export function dashboardPolicy(nonce: string, uploadOrigins: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' blob:",
    ['connect-src', "'self'", ...uploadOrigins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
