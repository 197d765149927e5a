/** `__Host-` binds the cookie to this very host, which browsers accept over https only. */
export function sessionCookieName(baseUrl: string): string {
  return baseUrl.startsWith('https:') ? '__Host-portico_session' : 'portico_session';
}
