/** Browsers accept the `__Host-` prefix over https only; it binds the cookie to this host. */
export function sessionCookieName(baseUrl: string): string {
  return baseUrl.startsWith('https:') ? '__Host-portico_session' : 'portico_session';
}
