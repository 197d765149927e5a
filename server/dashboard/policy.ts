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
