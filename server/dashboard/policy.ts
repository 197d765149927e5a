/**
 * Scripts only from this origin and never inline. Styles from this origin, and inline with the nonce of the
 * response. Requests to this origin and to the upload origins.
 */
export function dashboardPolicy(nonce: string, uploadOrigins: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    ['connect-src', "'self'", ...uploadOrigins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
