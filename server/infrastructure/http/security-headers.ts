/**
 * Headers of every response. The API serves data, never a page, so no response may run, be framed or be sniffed as
 * another type; the reference and the dashboard set their own policy.
 */
const ALWAYS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

const HTTPS_ONLY = { 'strict-transport-security': 'max-age=31536000; includeSubDomains' } as const;

export function securityHeaders(baseUrl: string): Record<string, string> {
  return baseUrl.startsWith('https:') ? { ...ALWAYS, ...HTTPS_ONLY } : { ...ALWAYS };
}
