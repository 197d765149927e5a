/**
 * Scripts from here only, and never inline. Styles from here, and the few that the components make while they run,
 * by a nonce of this answer. Calls go here and to where files are uploaded.
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
